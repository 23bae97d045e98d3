// SPDX-License-Identifier: Apache-2.0
// Our side: a stored configuration, compiled and bound to the operands.
#pragma once

#include "bench/gemm/operands.hpp"
#include "tuner/gpu/batch_timer.hpp"

namespace autotune::bench {

/// `early`: where its calls may start early. `operands` must outlive the call. Throws Error if it
/// does not compile, KernelFailure if the driver refuses it.
EnqueueOnce tuned_call(const CudaContext& context, const Operands& operands, const Target& target,
                       const Problem& problem, const Configuration& configuration,
                       EarlyStart early);

}  // namespace autotune::bench
