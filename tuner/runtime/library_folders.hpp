// SPDX-License-Identifier: Apache-2.0
// Where libautotune lies.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

/// The three folders above this library, nearest first: where it is installed, be that under lib,
/// lib64 or lib/x86_64-linux-gnu, is one of them. Empty when nobody knows.
std::vector<std::filesystem::path> folders_above_library();

}  // namespace autotune
