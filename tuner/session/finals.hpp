// SPDX-License-Identifier: Apache-2.0
// The end of a problem: the fastest trials verified harder, then timed side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tuner/session/problem_run.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune {

/// Chooses finalists among the trials of `run` (with the default and what the store has as best),
/// demands three bit-identical verified runs and a right answer on an edge problem (every size one
/// past 256 or past itself) of each, plays them off, and records and decides through `recorder`.
/// Fills best, default_configuration, ties and noise_floor of the report; best stays empty when no
/// configuration is right.
void decide(ProblemRun& run, const RunContext& context, std::uint64_t seed, double flops,
            ProblemReport& report, const std::function<void(const std::string&)>& warn = {});

/// On a device that cannot run: the configuration of the least predicted time among the trials
/// that compiled, recorded as predicted.
void decide_by_prediction(const ProblemRun& run, const RunContext& context, double flops,
                          ProblemReport& report);

/// When every trial was in the store already and so is their decision: the report from there.
/// False, and nothing done, otherwise.
bool take_over_decision(const ProblemRun& run, const RunContext& context, ProblemReport& report);

}  // namespace autotune
