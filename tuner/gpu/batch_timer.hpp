// SPDX-License-Identifier: Apache-2.0
// Private to this folder: times a chain of launches between two events.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "tuner/core/device.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"

namespace autotune {

/// Enqueues the work of one call on the buffer set `copy`.
using EnqueueOnce = std::function<void(cudaStream_t, int copy)>;

/// A chain of `launches` calls that cycles through `copies` buffer sets.
struct Chain {
  EnqueueOnce enqueue;
  int launches = 1;
  int copies = 1;
  /// An ordinary kernel follows each call. The time of a chain of such kernels is subtracted.
  bool has_neighbours = false;
  /// If given, precedes each call, for example to give inouts their contents again. Its time is
  /// subtracted, like that of neighbours.
  EnqueueOnce restore = {};

  bool has_others() const { return has_neighbours || restore; }
};

/// Times chains on one stream. A chain starts with a few untimed calls, which wake the
/// multiprocessors and fill their instruction caches. The events stand between calls, so the time
/// is that of each further call. With neighbours or a restore, the same batch also times a chain of
/// these alone. The clock counters of all multiprocessors are read before and after, outside
/// the events.
class BatchTimer {
 public:
  BatchTimer(const DeviceKernels& kernels, cudaStream_t stream);

  /// The calls of a chain, the untimed ones included.
  static int calls(const Chain& chain);
  /// The chain as a graph, after one untimed run. Throws KernelFailure.
  GraphExec prepare(const Chain& chain) const;
  /// Time and clock of one replay of the chain's graph; `seconds` is per call.
  TimedBatch replay(cudaGraphExec_t graph, const Chain& chain) const;
  /// The same chain call by call on the stream.
  TimedBatch stream(const Chain& chain) const;
  /// Enqueues the chain, as a graph or call by call, without waiting for it.
  void start(cudaGraphExec_t graph) const;
  void start(const Chain& chain) const;
  /// Times single calls, each on an idle device. Returns the median of at most 25, or of one call
  /// on each copy. The events stand before and after the call in the stream, so the time includes
  /// the host's launch overhead and the start and end of the kernel.
  TimedBatch alone(const Chain& chain) const;
  /// Enqueues one neighbour.
  void call_neighbour() const;

 private:
  /// Two events round the launches that are timed.
  struct Interval {
    Event begin = make_event(), end = make_event();
    double seconds() const;
  };

  void enqueue(const Chain& chain, unsigned event_flags) const;
  void enqueue_others(const Chain& chain, unsigned event_flags) const;
  void call(const Chain& chain, int copy) const;
  void record(const Event& event, unsigned flags) const;
  TimedBatch result(const Chain& chain) const;
  double clock_hz() const;

  const DeviceKernels& kernels_;
  cudaStream_t stream_;
  Interval calls_, others_;
  DeviceMemory neighbour_values_;
  DeviceMemory stamps_;  // kMostStamps before, as many after
  PinnedMemory read_back_;
};

// Batches without a gap between them.

/// Runs batches on a stream. One batch is always enqueued behind the running one, so the device is
/// not idle while the host reads a counter.
class BackToBack {
 public:
  BackToBack(cudaStream_t stream, std::function<void()> start)
      : stream_(stream), start_(std::move(start)) {
    enqueue(running_);
  }
  BackToBack(const BackToBack&) = delete;
  BackToBack& operator=(const BackToBack&) = delete;
  ~BackToBack() { cudaStreamSynchronize(stream_); }

  /// Waits for the batch that is running.
  void run() {
    enqueue(next_);
    check_kernel(cudaEventSynchronize(running_.get()), "running a batch");
    std::swap(running_, next_);
  }

 private:
  void enqueue(const Event& ended) const {
    start_();
    check_cuda(cudaEventRecord(ended.get(), stream_), "record an event");
  }

  cudaStream_t stream_;
  std::function<void()> start_;
  Event running_ = make_event(), next_ = make_event();
};

}  // namespace autotune
