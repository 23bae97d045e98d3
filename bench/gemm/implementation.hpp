// SPDX-License-Identifier: Apache-2.0
// One way to compute the product, timed as a graph like all others.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "bench/gemm/operands.hpp"
#include "tuner/gpu/batch_timer.hpp"

namespace autotune::bench {

/// `call` enqueues one call on a set of operands; it owns what it needs.
class Implementation : public Timer {
 public:
  Implementation(const CudaContext& context, const Operands& operands, std::string name,
                 std::string choice, EnqueueOnce call);

  /// Cold: uses the sets of operands in turn, each at least once.
  TimedBatch time(int launches, L2State l2) override;
  TimedBatch time_in(CallContext context, int launches, L2State l2) override;

  /// Verifies one call and lists the kernels that it launches, and the edges of several. Throws
  /// KernelFailure.
  ImplementationInfo examined() const;

 private:
  GraphEdges edges(bool has_neighbours) const;

  const CudaContext& context_;
  const Operands& operands_;
  std::string name_, choice_;
  EnqueueOnce call_;
  std::map<std::tuple<int, int, bool>, GraphExec> graphs_;  // by launches, copies, neighbours
};

}  // namespace autotune::bench
