// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the Workbench on a GPU.
#pragma once

#include <memory>

#include "tuner/core/device.hpp"
#include "tuner/gpu/batch_timer.hpp"
#include "tuner/gpu/cubin_compiler.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/device_kernels.hpp"

namespace autotune {

/// State shared by all problems of one GPU. Made when the first problem is opened.
struct CudaContext {
  CudaContext(int ordinal, const DeviceInfo& info, const CubinCompiler& compiler,
              OpenBaseline open_baseline, CountCalls count_calls);
  /// Selects the GPU for this thread. Call before any CUDA call.
  void use() const;

  int ordinal;
  DeviceInfo info;
  CubinCompiler compiler;
  OpenBaseline open_baseline;              // may be empty
  CountCalls count_calls;                  // may be empty
  std::unique_ptr<DeviceKernels> kernels;  // they compile while the context is made
  Stream stream;
  std::unique_ptr<BatchTimer> timer;
};

/// Throws Error; see Device::open().
std::unique_ptr<Workbench> make_cuda_workbench(std::shared_ptr<const CudaContext> context,
                                               const Workload& workload);

}  // namespace autotune
