// SPDX-License-Identifier: Apache-2.0
// The headers that a .cu usually begins with. NVRTC has no C or C++ library.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
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

/// Whether it is the name of such a header, as NVRTC lists what it read: without a folder before
/// it.
bool is_standard_header(std::string_view name);

/// A hash of all of them.
const std::string& standard_headers_hash();

/// The types of <cufft.h>.
inline constexpr const char* kCufftTypes =
    "#pragma once\n#include <cuComplex.h>\ntypedef float cufftReal;\n"
    "typedef double cufftDoubleReal;\ntypedef cuComplex cufftComplex;\n"
    "typedef cuDoubleComplex cufftDoubleComplex;\n";

// CUDA's headers for host code. Kernels are compiled without their contents.

inline constexpr const char* kHostHeaders[] = {
    "cublasLt.h",
    "cublas_v2.h",
    "cuda_profiler_api.h",
    "cuda_runtime_api.h",
    "cudnn.h",
    "cusolverDn.h",
    "cusparse.h",
    "helper_cuda.h",
    "helper_functions.h",
    "helper_string.h",
    "helper_timer.h",
    "nvToolsExt.h",
    "nvml.h",
    "nvtx3/nvToolsExt.h",
    "thrust/copy.h",
    "thrust/device_ptr.h",
    "thrust/device_vector.h",
    "thrust/execution_policy.h",
    "thrust/fill.h",
    "thrust/generate.h",
    "thrust/host_vector.h",
    "thrust/inner_product.h",
    "thrust/reduce.h",
    "thrust/scan.h",
    "thrust/sequence.h",
    "thrust/sort.h",
    "thrust/transform.h",
    "thrust/transform_reduce.h",
};

}  // namespace autotune
