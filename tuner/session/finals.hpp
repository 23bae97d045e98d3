// SPDX-License-Identifier: Apache-2.0
// The finals of a problem: verification of the finalists, the playoff, the decision, and how they
// are shortened near the deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/finalists.hpp"
#include "tuner/session/problem_run.hpp"

namespace autotune {

/// Duration of decide().
struct FinalsSeconds {
  double least = 0;  // with two finalists and the fewest blocks that may replace one
  double usual = 0;
};

/// Estimated from the trials of the run.
FinalsSeconds finals_seconds(const ProblemRun& run);

/// Results come in the order of the finalists, then of the baselines. Half-way all are loaded on
/// new buffers, if there is time. No block begins after the deadline, except as OutOfTime says. A
/// finalist with a time below the bench's time_floor() has failed.
PlayoffResult play_off(ProblemRun& run, Finalists& finalists,
                       std::vector<BaselineCandidate>& baselines, const Policy& policy,
                       const Deadline& deadline, std::uint64_t seed);

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

// Objectives other than time: the energy of the finalists, and the choice by it.

/// One for each finalist, in their order; none if the objective is time, or if it was not measured.
using Energies = std::vector<std::optional<Energy>>;

/// Measures each finalist that is left, in a sustained run of its own. After the deadline, only two
/// are measured. If one of them fails, it is refuted and the result is nullopt.
std::optional<Energies> measured_energies(const Policy& policy, Finalists& finalists,
                                          const PlayoffResult& result, const Deadline& deadline);

/// Makes the finalist with the least energy, or least product of energy and time, the winner, and
/// notes which others tie. What programs get (else the default) stays unless it has more by
/// over the policy's replace_margin, and by more than the resolution of the two can hide. Changes
/// nothing if the objective is time.
void decide_by_energy(const Policy& policy, const Finalists& finalists, const Energies& energies,
                      PlayoffResult& result);

/// The Pareto front of time and energy, fastest first.
std::vector<Tuned> pareto_front(std::vector<Tuned> all);

}  // namespace autotune
