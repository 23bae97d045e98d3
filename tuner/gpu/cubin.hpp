// SPDX-License-Identifier: Apache-2.0
// What a cubin says of its kernels, read without a driver.
#pragma once

#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

struct CubinKernel {
  KernelResources resources;
  int barriers = 0;
  Dim3 cluster;  // as compiled in by __cluster_dims__
};

/// Every kernel of a cubin by name. The layout is NVIDIA's own and undocumented (an ELF with
/// `.nv.info` attributes; checked against ptxas and the driver by tests), so this function is the
/// only place that knows it. Whatever is cut short or damaged is left out; nothing is thrown.
std::vector<CubinKernel> kernels_of(std::string_view cubin);

}  // namespace autotune
