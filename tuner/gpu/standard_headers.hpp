// SPDX-License-Identifier: Apache-2.0
// The headers that a .cu usually begins with. NVRTC has no C or C++ library.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace autotune {

/// As nvrtcCreateProgram() takes them; valid as long as the program runs.
struct HeaderList {
  std::vector<const char*> names, texts;
};

/// C's headers and <cmath> as far as kernels use them, those of C++ that libcu++ has, and
/// <cuda_runtime.h>. Headers for the host only, such as <iostream>, are empty. Without those that
/// are in one of the folders, because NVRTC would take ours first.
HeaderList standard_headers(std::span<const std::filesystem::path> folders);

/// A hash of all of them.
const std::string& standard_headers_hash();

}  // namespace autotune
