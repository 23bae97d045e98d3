// SPDX-License-Identifier: Apache-2.0
// Private to this folder: kernels of this library that lie in a stream capture, so that the next
// one knows whether the kernel ahead of it lets it start early.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace autotune {

/// What a launch on a stream comes after.
enum class Ahead : std::uint8_t {
  plain_stream,  // the stream is not captured: nobody knows
  early_kernel,  // in a capture: one kernel, which was noted
  other          // in a capture: anything else, or nothing
};

/// Asks the driver once. Does not allocate. What cannot be told is `plain_stream`.
Ahead ahead_on(cudaStream_t stream);

/// Notes the last kernel of a captured stream: one that lets the kernel behind it start early.
/// Thread-safe. The latest 256 are remembered; a forgotten one costs the follower its early start.
void note_tail(cudaStream_t stream);

}  // namespace autotune
