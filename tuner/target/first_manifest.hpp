// SPDX-License-Identifier: Apache-2.0
// A manifest for a kernel that nobody wrote to be tuned, from what its source shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/target/kernel_facts.hpp"

namespace autotune {

/// A question that does not concern what is compared with the kernel itself.
inline constexpr std::string_view kOwnReferenceQuestion =
    "results are compared with those of the default: a plain kernel is better (docs/manifest.md)";

inline constexpr std::string_view kLaunchQuestion =
    "the launch: blocks, threads and bytes of shared memory, as your program has them";

struct FirstManifest {
  std::string name;  // of the target: that of the kernel
  std::string text;
  /// What the source does not show. Each stands in the text, behind `# ?`, above what was guessed.
  std::vector<std::string> questions;
  std::vector<std::string> kept;  // constants that are no parameters: `RADIUS = 3`
  /// Whether a block may be in part beyond the end of buffers, whose lengths are known.
  bool has_rest = false;
};

/// `headers` are the texts of files that the source includes. `entry` may be empty if the source
/// has one kernel, beside plain ones to compare with. With `given`, the kernel's parameters have
/// the names there: their own, or by their order if that is how another kernel has them. Throws
/// UsageError if there is no such kernel, Error if the kernel takes what a manifest cannot give.
FirstManifest first_manifest(std::string_view source, std::string_view headers,
                             const std::string& file, const std::string& entry,
                             const Corrections& corrections = {},
                             const GivenArguments* given = nullptr);

}  // namespace autotune
