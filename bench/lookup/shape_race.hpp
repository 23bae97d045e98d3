// SPDX-License-Identifier: Apache-2.0
// Time of a call of gemm in a program: through the C API, between ordinary kernels, on GPU 0.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/gemm/bench_kernels.hpp"
#include "bench/gemm/operands.hpp"
#include "bench/gemm/vendor_gemm.hpp"
#include "tuner/core/target.hpp"
#include "tuner/gpu/cuda_device.hpp"
#include "tuner/runtime/autotune.h"

namespace autotune::bench {

using Handle = std::unique_ptr<autotune_handle, decltype(&autotune_close)>;
using Kernel = std::shared_ptr<autotune_kernel>;

/// Arguments of autotune_open().
struct Opening {
  std::string target, database;
  bool shipped = true;
  long long first_use_ms = 0;
  std::string settings = {};
  bool tuned_only = false;
};

/// Throws Error unless the call succeeded.
void check(autotune_status status);
/// Warnings go to stderr.
Handle opened(const Opening& opening);
Kernel prepared(autotune_handle* handle, std::span<const std::int64_t> sizes);

/// A way to compute a product, and its name in messages.
struct Implementation {
  std::string name;
  EnqueueOnce call;
};

/// Races calls of gemm on one shape.
class ShapeRace {
 public:
  /// Times are of calls between small ordinary kernels, whose own time is subtracted, or of chains
  /// of calls. `database` is the one that the ordinary kernels are looked up in.
  ShapeRace(bool between, const std::string& database);

  /// Matrices of this shape, with default settings.
  Operands operands(const Shape& shape) const;
  Implementation tuned(const Kernel& kernel, const Operands& operands) const;
  /// cublasSgemm, then the candidates of cublasLt.
  std::vector<Implementation> vendor(const Operands& operands) const;
  /// Seconds of each, the median of interleaved rounds. Throws Error if one is wrong.
  std::vector<double> seconds(const Operands& operands,
                              const std::vector<Implementation>& implementations) const;

 private:
  std::vector<double> medians(const std::vector<EnqueueOnce>& chains) const;

  bool between_;
  std::unique_ptr<CudaContext> context_;
  BenchKernels kernels_;
  VendorGemm vendor_;
  Target target_;
  Handle add_;
  DeviceMemory memory_;
  EnqueueOnce neighbour_;
};

}  // namespace autotune::bench
