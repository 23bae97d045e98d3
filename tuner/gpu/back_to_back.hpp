// SPDX-License-Identifier: Apache-2.0
// Private to this folder: batches without a gap between them.
#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "tuner/gpu/cuda_check.hpp"
#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {

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
