// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/host_cost.hpp"

#include <algorithm>
#include <cmath>

namespace autotune {
namespace {

// Measured on fibres of Boost.Context with g++ -O3 on a server core.
constexpr double kStartOfBlock = 300e-9;
constexpr double kStartOfThread = 60e-9;
constexpr double kBarrierOfThread = 24e-9;
constexpr double kScalarFlops = 1.2e9;   // a second, one sum at a time
constexpr double kVectorFlops = 90e9;    // a second, many independent sums in registers
constexpr double kBytesPerSecond = 8e9;  // a core

/// FLOP/s of one core with this many independent sums per thread. The compiler vectorizes 64 or
/// more sums if the block has one thread (`alone`), but not across the barriers of fibres.
double flops_per_second(double ilp, bool alone) {
  const double rate = kScalarFlops * std::pow(std::max(ilp, 1.0), alone ? 0.85 : 0.6);
  return std::min(rate, kVectorFlops);
}

}  // namespace

CostEstimate host_estimate(int cores, const CostInput& input) {
  const KernelWork& work = input.work;
  const double blocks = static_cast<double>(input.blocks);
  const double threads = input.shape.threads;
  const double barriers = threads > 1 ? work.barriers * std::max(work.steps, 1.0) + 1 : 0;
  const double fibres = threads > 1 ? threads * (kStartOfThread + barriers * kBarrierOfThread) : 0;
  // Cores take whole blocks: a grid of one block uses one core.
  const double share = std::ceil(blocks / cores);

  CostEstimate result;
  result.terms = {
      input.launches * 5e-6,
      share * (kStartOfBlock + fibres),
      0,
      share * work.flops / blocks / flops_per_second(work.ilp, input.shape.threads == 1),
      0,
      0,
      share * work.dram_bytes / blocks / kBytesPerSecond,
  };
  for (const double term : result.terms) result.seconds += term;
  result.binding = static_cast<Term>(std::max_element(result.terms.begin(), result.terms.end()) -
                                     result.terms.begin());
  result.waves = blocks / cores;
  result.balance = blocks / (cores * share);
  return result;
}

}  // namespace autotune
