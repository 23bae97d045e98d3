// SPDX-License-Identifier: Apache-2.0
// Where the CUDA toolkit's headers and NVRTC are on this machine.
#pragma once

#include <filesystem>
#include <vector>

namespace autotune {

/// The folder of the loaded NVRTC; empty when that cannot be found out.
std::filesystem::path nvrtc_folder();

/// The folder with cuda_fp16.h: under $CUDA_HOME or $CUDA_PATH, beside the loaded NVRTC, where the
/// tool was built, or the customary place; and its `cccl`, where CUDA 13 has <cub/…>, <cuda/…> and
/// <thrust/…>. Empty when there is none: kernels that include no toolkit header still compile.
const std::vector<std::filesystem::path>& toolkit_headers();

}  // namespace autotune
