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
  /// What the user must complete or check, with its place in the file. Comments of the text, too.
  std::vector<std::string> to_complete;
};

/// Translates a T1 file. What has no counterpart is a comment in the manifest. Throws Error for a
/// file that is no T1 problem, with the key.
T1Manifest t1_manifest(const std::filesystem::path& file);

}  // namespace autotune
