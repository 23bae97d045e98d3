// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/on_device.hpp"

#include "tuner/gpu/cuda_check.hpp"

namespace autotune {

OnDevice::OnDevice(int ordinal) {
  check_cuda(cudaGetDevice(&before_), "ask for the current GPU");
  check_cuda(cudaSetDevice(ordinal), "use this GPU");
}

OnDevice::~OnDevice() { static_cast<void>(cudaSetDevice(before_)); }

}  // namespace autotune
