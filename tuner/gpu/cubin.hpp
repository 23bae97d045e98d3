// SPDX-License-Identifier: Apache-2.0
// Reads the kernels of a cubin without a driver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

struct CubinKernel {
  KernelResources resources;
  std::string symbol;  // its name in the cubin; differs from its entry for a C++ name
  int barriers = 0;
  Dim3 cluster;  // from __cluster_dims__
};

/// A kernel's entry, such as the C++ name `conv::filter<float>`, its name in the cubin, and a
/// symbol with the types of its parameters (see types_in_symbol()), or an empty one.
struct KernelSymbol {
  std::string entry, symbol, types;
};

/// Appends these names to the cubin, behind what readers of ELF files look at. Returns the cubin
/// itself if there are no names.
std::string with_symbols(std::string cubin, const std::vector<KernelSymbol>& symbols);

/// Every kernel of a cubin by name. The layout is NVIDIA's and undocumented: an ELF file with
/// `.nv.info` attributes. Tests compare it with ptxas and the driver. Only this function knows the
/// layout. Truncated or damaged parts are left out; it never throws.
std::vector<CubinKernel> kernels_of(std::string_view cubin);

}  // namespace autotune
