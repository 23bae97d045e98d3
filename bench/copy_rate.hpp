// SPDX-License-Identifier: Apache-2.0
// What memory gives: the yardstick of memory-bound kernels.
#pragma once

#include <cstddef>

namespace autotune {

/// Bytes read and written a second by cudaMemcpyAsync from one buffer of so many bytes to another
/// on the current GPU: the median of 7 batches of 20, on stream 0. (As nodes of a graph such copies
/// ran at two thirds of that on an H200.) Throws Error.
double copy_rate(std::size_t bytes);

}  // namespace autotune
