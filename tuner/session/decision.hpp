// SPDX-License-Identifier: Apache-2.0
// What is decided of a problem, and the row that keeps it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/core/measurement.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {

/// A configuration with the figures of the playoff.
struct Tuned {
  Configuration configuration;
  Measurement measurement;
  std::optional<double> cold_seconds;  // the other L2 state
  bool verified = false;
};

/// A vendor's library in the playoff.
struct BaselineReport {
  std::string plugin;  // its file's name
  std::string name;    // what the library chose
  Measurement measurement;
  Ratio to_best;      // its time over that of the best configuration, paired
  bool wins = false;  // beyond doubt: the whole interval of the ratio is below 1
};

struct ProblemDecision {
  std::optional<Tuned> best;                   // absent when no configuration is right
  std::optional<Tuned> default_configuration;  // absent when the default itself fails
  std::vector<Configuration> ties;
  std::vector<BaselineReport> baselines;  // fastest first
  double noise_floor = 0;                 // relative spread of the playoff's A/A pair
  bool predicted = false;                 // the device cannot run: the model's choice
};

/// Of a decision that has a best; `flops` of one call, `binary_key` of the best one's kernel.
db::DecisionRow row_of(const ProblemDecision& decision, double flops,
                       const std::string& binary_key);

/// What the row of a decision says of it; `best` must have a time. Of the baselines the fastest is
/// kept, without pairs: its ratio is that of the times.
ProblemDecision decision_of(const db::BestRow& row);

}  // namespace autotune
