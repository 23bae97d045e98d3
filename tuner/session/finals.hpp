// SPDX-License-Identifier: Apache-2.0
// The finals of a problem: verification of the finalists, the playoff, the decision.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tuner/core/deadline.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/edge_check.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// Verifies the finalists, runs the playoff, and records figures and decision. A finalist that
/// fails in any phase is refuted, and the decision is made again among the others. The result has
/// no best if no configuration is correct. Near the deadline, fewer finalists take part for a
/// shorter time. If there is no time to compare the fastest with the holder and the libraries, the
/// result has no best but says so (`undone`). Throws NotCompiled if a finalist's kernel is missing.
ProblemDecision decide(ProblemRun& run, EdgeCheck& edge, const Deadline& deadline,
                       std::uint64_t seed,
                       const std::function<void(const std::string&)>& warn = {});

/// A decision without a playoff: the fastest trial of the search. It is not recorded.
ProblemDecision undecided(const ProblemRun& run);

/// The decision on a device that cannot run: the compiled configuration with the least predicted
/// time. It is recorded as predicted.
ProblemDecision decide_by_prediction(const ProblemRun& run);

/// The stored decision, if every trial was already in the store and the decision too.
std::optional<ProblemDecision> stored_decision(const ProblemRun& run);

}  // namespace autotune
