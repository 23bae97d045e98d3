// SPDX-License-Identifier: Apache-2.0
// The end of a problem: the fastest trials verified harder, then timed side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tuner/session/deadline.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/edge_check.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// How long decide() takes: with the two finalists that it cannot do without, and as a rule.
struct FinalsSeconds {
  double least = 0;
  double usual = 0;
};

/// Expected from what the trials of the run took.
FinalsSeconds finals_seconds(const ProblemRun& run, const RunContext& context);

/// Verifies the finalists, plays them off, and records figures and decision. Without a best when no
/// configuration is right, or none is verified by the deadline. As it draws near, fewer finalists
/// take part, for a shorter time. Throws NotCompiled where a finalist's kernel is missing.
ProblemDecision decide(ProblemRun& run, const RunContext& context, EdgeCheck& edge,
                       const Deadline& deadline, std::uint64_t seed,
                       const std::function<void(const std::string&)>& warn = {});

/// Where nothing could be decided: the fastest as the search measured it. Not recorded.
ProblemDecision undecided(const ProblemRun& run);

/// On a device that cannot run: the configuration of the least predicted time among the trials
/// that compiled, recorded as predicted.
ProblemDecision decide_by_prediction(const ProblemRun& run, const RunContext& context);

/// What is stored, when every trial was in the store already and so is their decision.
std::optional<ProblemDecision> stored_decision(const ProblemRun& run, const RunContext& context);

}  // namespace autotune
