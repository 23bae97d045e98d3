// SPDX-License-Identifier: Apache-2.0
// Private to this folder: remembers which captured kernels let their successor start early.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace autotune {

/// What precedes a launch on a stream.
enum class Ahead : std::uint8_t {
  plain_stream,  // the stream is not captured: unknown
  early_kernel,  // in a capture: one kernel, which was noted
  other          // in a capture: anything else, or nothing
};

/// Asks the driver once and does not allocate. Returns plain_stream if the driver cannot tell.
Ahead ahead_on(cudaStream_t stream);

/// Notes that the last kernel of a captured stream lets its successor start early. Thread-safe.
/// Remembers the latest 256; the successor of a forgotten kernel does not start early.
void note_tail(cudaStream_t stream);

}  // namespace autotune
