// SPDX-License-Identifier: Apache-2.0
// A tuned kernel that serves a shape of call.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <mutex>
#include <vector>

#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/cuda_driver.hpp"
#include "tuner/blas/runtime_library.hpp"

namespace autotune::blas {

/// The addresses and scalars of one call, column-major.
struct CallValues {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;
  const void* scale_a = nullptr;  // of operands of 8 bits: factors
  const void* scale_b = nullptr;
  float alpha = 1, beta = 0;
};

/// A problem of a target, with the handle that compiles it.
struct PreparedProblem {
  const RuntimeLibrary* runtime = nullptr;
  autotune_handle* handle = nullptr;
  std::vector<std::int64_t> sizes;

  /// nullptr if it cannot be compiled.
  autotune_kernel* prepare() const noexcept;
};

/// Kernels are never released: graphs may hold them. A kernel with workspace serves one stream or
/// one graph, and the next graph once that one is gone.
class ServingKernel {
 public:
  enum class Operand : std::uint8_t { first, second, added, result, first_scale, second_scale };
  /// The arguments of a kernel: the operands of the row-major problem, one for each buffer, then
  /// alpha and beta or no scalars.
  struct Arguments {
    std::vector<Operand> operands;
    bool takes_scalars = false;
  };

  /// `stand_in` is launched if there is no memory for a workspace; it may be nullptr.
  ServingKernel(PreparedProblem problem, autotune_kernel* kernel, Arguments arguments,
                const ServingKernel* stand_in);

  /// Whether some calls are timed, and cuBLAS may be what serves.
  bool earns() const noexcept { return earns_; }
  /// Whether cuBLAS is to run the next call, on this stream, in place of launch(). If the call is
  /// timed, end_call() must follow it.
  bool leaves_to_vendor(Stream stream, bool& is_timed) const noexcept;
  void end_call(Stream stream, bool has_run) const noexcept;

  /// Outcome::served, or why it could not be launched: failed, or no_workspace.
  Outcome launch(const CallValues& values, Stream stream) const noexcept;

 private:
  /// A kernel that a stream or a capture has.
  struct Claim {
    autotune_kernel* kernel = nullptr;
    Place place;
    std::atomic<bool> is_over{false};  // the graph of the capture is gone
  };

  autotune_kernel* kernel_for(Stream stream) const noexcept;
  autotune_kernel* another_kernel() const noexcept;

  PreparedProblem problem_;
  autotune_kernel* kernel_;
  Arguments arguments_;
  const ServingKernel* stand_in_;
  bool earns_;
  std::uint64_t workspace_;  // bytes; must not be used by two streams or graphs at a time
  mutable std::mutex claiming_;
  mutable std::list<Claim> claims_;  // of kernels with workspace
};

}  // namespace autotune::blas
