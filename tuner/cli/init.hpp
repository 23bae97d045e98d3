// SPDX-License-Identifier: Apache-2.0
// A manifest for a kernel that is already there, and what its check says of it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/candidate.hpp"
#include "tuner/target/first_manifest.hpp"

namespace autotune::cli {

/// What is wrong with a manifest on a device; empty if nothing is.
struct ManifestTrouble {
  std::string message;
  std::string unwritten = {};  // an output that the kernel does not write as a whole
  bool is_undefined = false;   // results are no numbers
  bool does_not_compile = false;
};

/// The manifest of a `.cu` file.
class ProposedManifest {
 public:
  /// Throws UsageError or Error as first_manifest().
  ProposedManifest(const std::filesystem::path& file, std::string entry,
                   const std::vector<std::filesystem::path>& include = {});

  const FirstManifest& first() const { return first_; }
  /// Where it belongs: beside the file.
  std::filesystem::path path() const;
  /// Throws Error if it cannot be read.
  Target target() const;
  /// Checks it on a device. Headers that are not there are taken as empty, outputs that the kernel
  /// does not write as a whole become inouts, inputs positive if results are no numbers, and sizes
  /// multiples of what a block takes if that is what is wrong. Throws Error if the kernel does not
  /// compile.
  ManifestTrouble correct(Device& device);
  const std::vector<std::string>& empty_headers() const { return corrections_.empty_headers; }

 private:
  FirstManifest made() const;
  ManifestTrouble trouble(Device& device) const;
  /// Lets sizes be multiples of what a block takes, if nothing is wrong then; else `before`.
  ManifestTrouble without_rest(Device& device, ManifestTrouble before);

  const std::filesystem::path file_;
  const std::string entry_;
  const KernelSource source_;
  Corrections corrections_;
  FirstManifest first_;
};

}  // namespace autotune::cli
