// SPDX-License-Identifier: Apache-2.0
// T1: the auto-tuning community's format of tuning problems, as a manifest of format 2.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

struct T1Manifest {
  std::string name;  // letters, digits and _
  std::string text;  // TOML
  /// Points that the user must complete or check, with their place in the file. Also comments of
  /// the text.
  std::vector<std::string> to_complete;
};

/// Translates a T1 file. Anything without a counterpart becomes a comment in the manifest. Throws
/// Error with the key if the file is not a T1 problem.
T1Manifest t1_manifest(const std::filesystem::path& file);

}  // namespace autotune
