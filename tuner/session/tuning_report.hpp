// SPDX-License-Identifier: Apache-2.0
// The results of a run.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/outcome.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/session/compile_pool.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/explanation.hpp"

namespace autotune {

/// Seconds spent on one problem.
struct Phases {
  double compile_wait = 0;  // waiting for compile threads, with nothing else to do
  double open = 0;          // buffers and the reference
  double verify = 0;        // loading and verifying on the device
  double measure = 0;       // timing on the device
  double decide = 0;        // verification of finalists and the playoff
  double record = 0;        // the database
};

/// Number of trials for each Outcome.
using OutcomeCounts = std::array<int, kOutcomes>;

/// Configurations that were tried first because they are fast on other devices.
struct StartedFrom {
  std::size_t configurations = 0;
  std::vector<std::string> devices;  // names, each once
};

struct ProblemReport {
  Problem problem;
  std::size_t space = 0;
  OutcomeCounts outcomes{};
  int taken_over = 0;   // trials found in the store
  int quarantined = 0;  // not run again after two crashes or timeouts
  StartedFrom started_from;
  SearchHealth health;
  ProblemDecision decision;
  /// An automatic budget: what going on was expected to gain at most, with 95 % confidence.
  std::optional<double> expected_gain;
  std::string refused;          // why no configuration is valid: nothing was tried
  bool out_of_time = false;     // see ProblemDecision::undone
  std::string default_failure;  // why the decision has no default configuration
  double flops = 0;             // per call
  double seconds = 0;           // less the phases: the search's own time
  Phases phases;
};

struct TuningReport {
  std::vector<ProblemReport> problems;
  CompileStatistics compile;
  bool interrupted = false;
  double seconds = 0;
  double busy_seconds = 0;  // sum of Device::busy_seconds()
  std::size_t devices = 1;  // number of devices used
};

}  // namespace autotune
