// SPDX-License-Identifier: Apache-2.0
// Compiles units for one GPU architecture, through the cache. Used by the CUDA and model devices.
#pragma once

#include <memory>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/cache/included_text.hpp"
#include "tuner/core/device.hpp"

namespace autotune {

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

}  // namespace autotune
