// SPDX-License-Identifier: Apache-2.0
// Finds the CUDA toolkit's headers and NVRTC on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

/// The folder of the loaded NVRTC; empty if unknown.
std::filesystem::path nvrtc_folder();

/// The folder with cuda_fp16.h, and its subfolder `cccl`, which has <cub/…>, <cuda/…> and
/// <thrust/…> in CUDA 13. Searches $CUDA_HOME, $CUDA_PATH, the surroundings of the loaded NVRTC (in
/// the layouts of the toolkit and of PyPI's packages), the toolkit of the build, and
/// /usr/local/cuda. Empty if there is none: kernels without toolkit headers still compile.
const std::vector<std::filesystem::path>& toolkit_headers();

/// A hash of the names, sizes and times of change of all files below the folder.
std::string stamp_of(const std::filesystem::path& folder);
/// The toolkit's headers', taken once. Part of the key of a source that includes any of them.
const std::string& toolkit_stamp();

/// Adds advice to a compiler's log, in the line that misses a header of the toolkit, unless the
/// headers were `found`.
std::string with_advice(std::string log, bool found = !toolkit_headers().empty());

}  // namespace autotune
