// SPDX-License-Identifier: Apache-2.0
// What a playoff's times in another context than the policy's decide.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/measure/playoff.hpp"
#include "tuner/session/baselines.hpp"
#include "tuner/session/decision.hpp"

namespace autotune {

/// The finalists of a playoff, in its order; `result` has the baselines behind them.
struct PlayedOff {
  std::vector<Configuration> finalists;
  std::optional<std::size_t> by_default;  // the default configuration, if it took part
  std::span<const BaselineCandidate> baselines;
  const PlayoffResult& result;
};

struct ContextDecision {
  std::size_t winner = 0;
  ProblemDecision decision;
};

/// The playoff's winner stays, unless another finalist is faster there by more than the policy's
/// margin and the intervals of the two, each of kFewestForInterval samples, are apart. nullopt if
/// the winner has no time there.
std::optional<ContextDecision> decision_in(CallContext context, const PlayedOff& played,
                                           const Policy& policy);

}  // namespace autotune
