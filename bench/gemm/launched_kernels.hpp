// SPDX-License-Identifier: Apache-2.0
// The names of the kernels behind a call, whoever's library it is in.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <string>
#include <vector>

namespace autotune::bench {

/// Captures the call without running it. A kernel whose name the driver does not tell is `?`; none
/// where it is too old to ask. Throws what the call throws.
std::vector<std::string> launched_kernels(cudaStream_t stream,
                                          const std::function<void(cudaStream_t)>& call);

}  // namespace autotune::bench
