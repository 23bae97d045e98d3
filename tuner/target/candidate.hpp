// SPDX-License-Identifier: Apache-2.0
// A kernel of another source that computes what a target computes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tuner/core/target.hpp"
#include "tuner/target/first_manifest.hpp"

namespace autotune {

/// The candidate's sources, parameters, workspace and launches, with the sizes, settings, arguments
/// and work of `against`. Its workload is that of `against`, reference included. Throws Error if
/// `against` needs more of its kernels than outputs: check kernels.
Target candidate_for(std::shared_ptr<const Target> against, Target candidate);

struct Candidacy {
  Target target;
  bool is_launch_guessed = false;  // its text does not show how it is launched
};

/// Reads a candidate: a manifest, or a `.cu` file, whose text shows the launch. `entry` names its
/// kernel if there are several. Throws UsageError or Error as load_manifest() and first_manifest().
Candidacy load_candidate(std::shared_ptr<const Target> against, const std::filesystem::path& file,
                         const std::string& entry);

/// The target of a manifest with another source, whose kernels are launched in the same way. It is
/// its own reference. Throws as load_manifest().
Target with_source(const std::filesystem::path& manifest, const std::filesystem::path& source);

/// A `.cu` file and the files that it includes from its own folder and these, one after the other.
struct KernelSource {
  std::string text, headers;
};
/// Throws UsageError if it cannot be read.
KernelSource kernel_source_in(const std::filesystem::path& file,
                              const std::vector<std::filesystem::path>& more_folders = {});

}  // namespace autotune
