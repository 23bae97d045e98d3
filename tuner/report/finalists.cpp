// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/finalists.hpp"

#include <algorithm>

#include "db/counters.hpp"
#include "tuner/core/error.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/records/records.hpp"
#include "tuner/report/report.hpp"
#include "tuner/text/figures.hpp"

namespace autotune::report {
namespace {

constexpr std::string_view kCounting = "cuda";  // the kind of devices that have counters

const db::TrialRow* latest_timed(const ReportedProblem& problem, const std::string& configuration) {
  const auto found = std::find_if(problem.trials.rbegin(), problem.trials.rend(), [&](auto& row) {
    return row.configuration == configuration && row.outcome == "ok" && row.median_ns;
  });
  return found == problem.trials.rend() ? nullptr : &*found;
}

double seconds_of(const ReportedProblem& problem, const std::string& configuration,
                  const db::TrialRow* trial) {
  const db::BestRow& best = problem.entry.best;
  if (configuration == best.configuration) return best.median_ns.value_or(0) * kNanosecond;
  const bool is_default = configuration == best.default_configuration && best.default_ns;
  if (is_default) return *best.default_ns * kNanosecond;
  return trial ? *trial->median_ns * kNanosecond : 0;
}

/// Expected values from the target, as far as it still fits the configuration.
void add_analysis(Expected& expected, const ReportedProblem& problem, const Target& target,
                  const std::string& text) {
  try {
    const DeviceInfo device = device_of(problem.entry.device);
    const Problem asked{parse_named_values(problem.entry.best.key.problem)};
    const Configuration configuration = parse_named_values(text);
    expected.accesses = traffic_of(gpu_spec(device).sm, target, asked, device, configuration);
    const auto levels = levels_of(target.parameters, configuration);
    if (!levels) return;
    const CostEstimate model =
        SizedCostModel(target, asked, device).estimate(*levels, sizes_of(target, asked));
    if (model.l2_intensity > 0) {
      expected.l2_bytes = expected.flops / model.l2_intensity * sizeof(float);
    }
  } catch (const std::exception&) {  // it has changed since
  }
}

std::string role_of(const db::BestRow& best, const std::string& configuration) {
  if (configuration == best.configuration) return "best";
  return configuration == best.default_configuration ? "default" : "tie";
}

Finalist finalist(const ReportedProblem& problem, const std::string& configuration,
                  const Target* target) {
  Finalist one{role_of(problem.entry.best, configuration), configuration, {}, "", "", {}};
  const db::TrialRow* const trial = latest_timed(problem, configuration);
  one.expected.seconds = seconds_of(problem, configuration, trial);
  one.expected.flops = problem.work.flops;
  one.expected.bytes = problem.work.bytes;
  if (trial) one.expected.occupancy = trial->occupancy;
  if (target) add_analysis(one.expected, problem, *target, configuration);
  return one;
}

}  // namespace

std::vector<Finalist> finalists_of(const db::TunedStore& store, const ReportedProblem& problem,
                                   const Target* target) {
  std::vector<Finalist> finalists;
  if (problem.entry.device.kind != kCounting) return finalists;
  const std::vector<db::CounterRow> rows = db::counters_of(store, problem.entry.best.key);
  for (const std::string& configuration : autotune::finalists_of(problem.entry.best)) {
    finalists.push_back(finalist(problem, configuration, target));
    const auto row = std::ranges::find(rows, configuration, &db::CounterRow::configuration);
    if (row == rows.end()) continue;
    finalists.back().counters = counter_values(row->figures);
    finalists.back().environment = row->environment;
    finalists.back().counted_at = row->created_at;
  }
  return finalists;
}

}  // namespace autotune::report
