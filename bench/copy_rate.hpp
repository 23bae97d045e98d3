// SPDX-License-Identifier: Apache-2.0
// Memory bandwidth: the reference of memory-bound kernels.
#pragma once

#include <cstddef>

namespace autotune {

/// Bytes read and written per second by cudaMemcpyAsync between two buffers of `bytes` bytes on the
/// current GPU: the median of 7 batches of 20, on stream 0. (As nodes of a graph, such copies
/// reached two thirds of that on an H200.) Throws Error.
double copy_rate(std::size_t bytes);

}  // namespace autotune
