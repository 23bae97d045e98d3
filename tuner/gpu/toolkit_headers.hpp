// SPDX-License-Identifier: Apache-2.0
// Finds the CUDA toolkit's headers and NVRTC on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

/// The folder of the loaded NVRTC; empty if unknown.
std::filesystem::path nvrtc_folder();

/// The folder with cuda_fp16.h, and its `cccl`, where CUDA 13 has <cub/…>, <cuda/…> and <thrust/…>.
/// Searched under $CUDA_HOME, $CUDA_PATH, beside the loaded NVRTC (as the toolkit and PyPI's
/// packages lay them out), where the tool was built, and in the usual place. Empty if there is
/// none: kernels without toolkit headers still compile.
const std::vector<std::filesystem::path>& toolkit_headers();

/// A compiler's log. Where it misses a header of the toolkit and none was `found`, it says what to
/// try, in the same line.
std::string with_advice(std::string log, bool found = !toolkit_headers().empty());

}  // namespace autotune
