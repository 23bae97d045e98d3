// SPDX-License-Identifier: Apache-2.0
// What came of a run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/phases.hpp"
#include "tuner/session/pruned.hpp"

namespace autotune {

/// How many trials ended how, by Outcome.
using OutcomeCounts = std::array<int, kOutcomes>;

struct ProblemReport {
  Problem problem;
  std::size_t space = 0;
  OutcomeCounts outcomes{};
  int taken_over = 0;   // trials that the store had already
  int quarantined = 0;  // not run again after two crashes
  ProblemDecision decision;
  bool out_of_time = false;               // before a finalist was verified: there is no best
  std::string default_failure;            // why the decision has no default configuration
  std::optional<PruneCheck> prune_check;  // where the request asked for it
  double flops = 0;                       // of one call
  double seconds = 0;                     // what the phases leave of it is the search's own
  Phases phases;
};

struct TuningReport {
  std::vector<ProblemReport> problems;
  CompileStatistics compile;
  bool interrupted = false;
  double seconds = 0;
  double busy_seconds = 0;  // Device::busy_seconds(), of all devices
  std::size_t devices = 1;  // that it ran on
};

}  // namespace autotune
