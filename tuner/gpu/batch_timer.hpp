// SPDX-License-Identifier: Apache-2.0
// Private to this folder: times a chain of launches between two events.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"

namespace autotune {

/// Enqueues the work of one call on the set of buffers number `copy`.
using EnqueueOnce = std::function<void(cudaStream_t, int copy)>;

/// A chain of `launches` calls that use `copies` sets of buffers in turn.
struct Chain {
  EnqueueOnce enqueue;
  int launches = 1;
  int copies = 1;
};

/// Times chains on one stream. A chain starts with a few untimed calls, so that the multiprocessors
/// are awake and their instruction caches filled. Events stand between calls, so the time is what
/// each further call costs. Clocks of all multiprocessors are read before and after, outside the
/// events.
class BatchTimer {
 public:
  BatchTimer(const DeviceKernels& kernels, cudaStream_t stream);

  /// The chain as a graph, after one untimed run. Throws KernelFailure.
  GraphExec prepare(const Chain& chain) const;
  /// Time and clock of one replay; `seconds` is per call.
  TimedBatch replay(cudaGraphExec_t graph, int launches) const;
  /// The same chain call by call on the stream.
  TimedBatch stream(const Chain& chain) const;

 private:
  void enqueue(const Chain& chain, unsigned event_flags) const;
  TimedBatch result(int launches) const;
  double clock_hz() const;

  const DeviceKernels& kernels_;
  cudaStream_t stream_;
  Event begin_, end_;
  DeviceMemory stamps_;  // kMostStamps before, as many after
  PinnedMemory read_back_;
};

}  // namespace autotune
