// SPDX-License-Identifier: Apache-2.0
// The names of the kernels of a call, whatever library launches them.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

#include "bench/gemm/report.hpp"

namespace autotune::bench {

/// Captures the call without running it. A kernel has the name `?` if the driver does not tell it;
/// the result is empty if the driver is too old. Throws what the call throws.
std::vector<std::string> launched_kernels(cudaStream_t stream,
                                          const std::function<void(cudaStream_t)>& call);

/// The edges of what `calls` enqueues.
GraphEdges launched_edges(cudaStream_t stream, const std::function<void(cudaStream_t)>& calls);

}  // namespace autotune::bench
