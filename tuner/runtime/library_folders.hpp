// SPDX-License-Identifier: Apache-2.0
// The folders around libautotune.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

/// The three folders above this library, nearest first. The installation prefix is one of them,
/// whether the library is in lib, lib64 or lib/x86_64-linux-gnu. Empty if the library's path is
/// unknown.
const std::vector<std::filesystem::path>& folders_above_library();

}  // namespace autotune
