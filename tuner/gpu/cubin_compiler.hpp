// SPDX-License-Identifier: Apache-2.0
// Compiles units for one GPU architecture, through the cache, and reads cubins. Used by the CUDA
// and model devices, of which the second is here.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/cache/included_text.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

// Reads the kernels of a cubin without a driver.

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

class CubinCompiler {
 public:
  /// Without a runner, NVRTC runs in this process.
  CubinCompiler(int compute_capability, std::shared_ptr<BuildCache> cache,
                std::shared_ptr<CompilerRunner> runner = nullptr);

  /// As Device::compile(). Thread-safe; a bad source is an outcome.
  CompiledKernel compile(const SourceUnit& unit) const;
  /// As Device::is_cached().
  bool is_cached(const SourceUnit& unit) const;
  /// As Device::stop_compiling().
  void stop() const { runner_->stop(); }

 private:
  Build build(const SourceUnit& unit, const Included& included) const;

  int compute_capability_;
  std::shared_ptr<BuildCache> cache_;
  std::shared_ptr<CompilerRunner> runner_;
  std::shared_ptr<IncludedTexts> included_ = std::make_shared<IncludedTexts>();
};

// `model:NAME`: a GPU that is not here. Kernels are compiled and analysed, never launched.

/// `info` describes the GPU (kind model). Throws Error if this build has no NVRTC, or if NVRTC does
/// not compile for this architecture. Without a runner, NVRTC runs in this process.
std::unique_ptr<Device> make_model_device(DeviceInfo info, std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner = nullptr);

}  // namespace autotune
