// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/decision.hpp"

#include <sstream>

#include "tuner/measure/playoff.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

constexpr double kNanoseconds = 1e9;

db::BaselineFigures figures_of(const BaselineReport& report) {
  db::BaselineFigures figures;
  figures.plugin = report.plugin;
  figures.candidate = report.name;
  figures.ns = report.measurement.median * kNanoseconds;
  figures.low_ns = report.measurement.low * kNanoseconds;
  figures.high_ns = report.measurement.high * kNanoseconds;
  figures.wins = report.wins;
  return figures;
}

BaselineReport baseline_of(const db::BaselineFigures& figures, double best_seconds) {
  BaselineReport report{figures.plugin, figures.candidate, {}, {}, figures.wins};
  const Measurement times = measurement_of({figures.ns, figures.low_ns, figures.high_ns, 0});
  report.measurement = times;
  report.to_best = {times.median / best_seconds, times.low / best_seconds,
                    times.high / best_seconds};
  return report;
}

Tuned best_of(const db::BestRow& row) {
  Tuned best;
  best.configuration = parse_named_values(row.configuration);
  best.measurement = measurement_of(row);
  if (row.cold_ns) best.cold_seconds = *row.cold_ns / kNanoseconds;
  best.verified = row.verified;
  if (row.joules) best.energy = Energy{*row.joules};
  best.repeats = row.repeats;
  return best;
}

}  // namespace

db::DecisionRow row_of(const ProblemDecision& decision, double flops,
                       const std::string& binary_key) {
  db::DecisionRow row;
  const Measurement& times = decision.best->measurement;
  row.provenance = decision.predicted ? "predicted" : "measured";
  row.configuration = to_text(decision.best->configuration);
  static_cast<db::Times&>(row) = times_of(times);
  if (flops > 0 && times.median > 0) row.gflops = flops / times.median / 1e9;
  if (decision.default_configuration) {
    row.default_configuration = to_text(decision.default_configuration->configuration);
    row.default_ns = decision.default_configuration->measurement.median * kNanoseconds;
    const std::optional<Energy>& energy = decision.default_configuration->energy;
    if (energy) row.default_joules = energy->joules;
  }
  row.noise_floor = decision.noise_floor;
  if (decision.best->cold_seconds) row.cold_ns = *decision.best->cold_seconds * kNanoseconds;
  if (decision.best->energy) row.joules = decision.best->energy->joules;
  for (const Configuration& tie : decision.ties) row.ties += to_text(tie) + '\n';
  row.verified = decision.best->verified;
  row.repeats = decision.best->repeats;
  row.binary_key = binary_key;
  if (!decision.baselines.empty()) row.baseline = figures_of(decision.baselines.front());
  return row;
}

ProblemDecision decision_of(const db::BestRow& row) {
  ProblemDecision decision;
  decision.best = best_of(row);
  decision.noise_floor = row.noise_floor.value_or(0);
  // By energy, the margin followed from figures that are not stored.
  if (!row.joules) decision.tie_margin = tie_margin(Policy{}, decision.noise_floor);
  decision.predicted = row.provenance == "predicted";
  std::istringstream ties(row.ties);
  for (std::string tie; std::getline(ties, tie);) decision.ties.push_back(parse_named_values(tie));
  if (row.default_ns) {
    Tuned& by_default = decision.default_configuration.emplace();
    by_default.configuration = parse_named_values(row.default_configuration);
    by_default.measurement.median = *row.default_ns / kNanoseconds;
    if (row.default_joules) by_default.energy = Energy{*row.default_joules};
  }
  if (row.baseline.ns) {
    decision.baselines.push_back(baseline_of(row.baseline, decision.best->measurement.median));
  }
  return decision;
}

}  // namespace autotune
