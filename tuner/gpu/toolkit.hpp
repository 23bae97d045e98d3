// SPDX-License-Identifier: Apache-2.0
// Which parts of CUDA this build and this machine have. Nothing here fails without a GPU.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace autotune {

// NVRTC, loaded by this process itself, so that programs start where it is not installed.

/// The address of NVRTC's function; nullptr where NVRTC is not installed.
void* nvrtc_function(const char* name);

struct Toolkit {
  bool built = false;                          // with the CUDA device
  std::string nvrtc;                           // `13.0.88`; empty if it does not work
  std::string nvrtc_folder;                    // of the loaded library
  std::vector<std::filesystem::path> headers;  // see toolkit_headers()
  int runtime = 0;                             // 13000: CUDA of the runtime that is linked
  int driver = 0;                              // 13000: CUDA of the driver; 0 if there is none
  std::string device_error;                    // why no GPU can be used; empty if one can
};

Toolkit toolkit();

// Finds the CUDA toolkit's headers and NVRTC on this machine.

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
