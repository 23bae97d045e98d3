// SPDX-License-Identifier: Apache-2.0
// Finalists and baselines of one problem, timed side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/session/baselines.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/finalists.hpp"

namespace autotune {

/// Results come in the order of the finalists, then of the baselines. Half-way all are loaded on
/// new buffers, if there is time. No block begins after the deadline, except as OutOfTime says. A
/// finalist with a time below the bench's time_floor() has failed.
PlayoffResult play_off(ProblemRun& run, Finalists& finalists,
                       std::vector<BaselineCandidate>& baselines, const Policy& policy,
                       const Deadline& deadline, std::uint64_t seed);

/// The baselines that ran, fastest first. `results` belong to `baselines`.
std::vector<BaselineReport> baseline_reports(std::span<const BaselineCandidate> baselines,
                                             std::span<const FinalistResult> results);

}  // namespace autotune
