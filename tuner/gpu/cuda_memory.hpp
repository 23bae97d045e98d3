// SPDX-License-Identifier: Apache-2.0
// Private to this folder: verification's view of a GPU's memory, through kernels of the tuner's
// own.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>
#include <utility>

#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/measure/memory.hpp"

namespace autotune {

/// Everything is enqueued on the stream. What the memory seals stays in device memory. `kernels`
/// and the stream must outlive it.
std::unique_ptr<Memory> make_cuda_memory(cudaStream_t stream, const DeviceKernels& kernels);

/// A call on the stream of a GPU.
class CudaCall : public Call {
 public:
  CudaCall(cudaStream_t stream, std::unique_ptr<BoundWork> work)
      : stream_(stream), work_(std::move(work)) {}

  void start() override { work_->launch(stream_, EarlyStart::everywhere); }
  void start_checks() override { work_->check(stream_); }
  double run() override;
  const BoundWork& work() const { return *work_; }

 private:
  cudaStream_t stream_;
  std::unique_ptr<BoundWork> work_;
  Event begin_ = make_event(), end_ = make_event();
};

}  // namespace autotune
