// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/playoff.hpp"

#include <algorithm>

namespace autotune {

PlayoffResult play_off(ProblemRun& run, Finalists& finalists,
                       std::vector<BaselineCandidate>& baselines, const Policy& policy,
                       const Deadline& deadline, std::uint64_t seed) {
  const auto entries = [&] {
    std::vector<Finalist> all = finalists.entries();
    for (const BaselineCandidate& one : baselines) {
      all.push_back({one.candidate.get(), one.seconds, false, false, true});
    }
    return all;
  };
  const auto reallocate = [&](std::span<Finalist> again) {
    if (deadline.seconds_left() < 2 * run.bench().phases().open) return;
    for (BaselineCandidate& one : baselines) one.candidate.reset();
    finalists.reload();
    for (BaselineCandidate& one : baselines) reload(one, run.bench().workbench());
    std::ranges::copy(entries(), again.begin());
  };
  PlayoffResult result = play_off(entries(), policy, seed, reallocate, run.bench().clock_hz(),
                                  [&] { return deadline.has_passed(); });
  const double floor = run.bench().time_floor();
  for (std::size_t i = 0; i < finalists.all().size(); ++i) {
    FinalistResult& one = result.finalists[i];
    const double seconds = one.measurement.median;
    if (one.outcome != Outcome::ok || seconds >= floor) continue;
    one = failed_finalist(Outcome::launch_error, too_fast_text(seconds, floor));
  }
  return result;
}

std::vector<BaselineReport> baseline_reports(std::span<const BaselineCandidate> baselines,
                                             std::span<const FinalistResult> results) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < baselines.size(); ++i) {
    if (results[i].outcome != Outcome::ok || !results[i].to_winner) continue;
    const Ratio& ratio = *results[i].to_winner;
    reports.push_back({baselines[i].source.plugin.stem().string(), baselines[i].name,
                       results[i].measurement, ratio, is_clearly_below_one(ratio)});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

}  // namespace autotune
