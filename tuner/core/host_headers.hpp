// SPDX-License-Identifier: Apache-2.0
// CUDA's headers for host code. Kernels are compiled without their contents.
#pragma once

namespace autotune {

inline constexpr const char* kHostHeaders[] = {
    "cublasLt.h",
    "cublas_v2.h",
    "cuda_profiler_api.h",
    "cuda_runtime_api.h",
    "cudnn.h",
    "cufft.h",
    "curand.h",
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
