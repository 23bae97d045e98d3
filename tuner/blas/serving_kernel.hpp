// SPDX-License-Identifier: Apache-2.0
// What serves a shape of call: the tuned kernel, or the reason why there is none.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/runtime_library.hpp"

namespace autotune::blas {

/// The addresses and scalars of one call, column-major.
struct CallValues {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* c = nullptr;
  void* d = nullptr;
  float alpha = 1, beta = 0;
};

struct ServingKernel {
  enum class Operand : std::uint8_t { first, second, added, result };

  const RuntimeLibrary* runtime = nullptr;
  autotune_kernel* kernel = nullptr;
  std::vector<Operand> operands;      // of the row-major problem, one for each buffer of the kernel
  bool takes_scalars = false;         // alpha and beta
  bool has_workspace = false;         // which two streams must not use at a time
  mutable std::atomic<Stream> owner;  // the stream that may, once there is one

  /// Whether this stream may use the workspace: the first that asks.
  bool belongs_to(Stream stream) const noexcept;
  /// False if it cannot be launched.
  bool launch(const CallValues& values, Stream stream) const noexcept;
};

/// Looks up and compiles. One thread at a time.
class KernelMaker {
 public:
  /// The kernel is never freed. Warns once of each kind of failure.
  std::variant<const ServingKernel*, Outcome> make(const CallShape& shape);

 private:
  using Key = std::tuple<std::int32_t, std::string, std::string>;  // device, target, settings

  autotune_handle* handle_for(std::int32_t device, const TargetProblem& problem);

  std::map<Key, autotune_handle*> handles_;  // never closed: kernels need them
};

}  // namespace autotune::blas
