// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/portability.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "tuner/search/cover.hpp"

namespace autotune::report {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Nanoseconds of each configuration, by the latest trial; of a pruned one, a lower bound. The
/// best has the published time.
std::map<std::string, double> times_of(const ReportedProblem& problem) {
  std::map<std::string, double> times;
  for (const db::TrialRow& trial : problem.trials) {
    if (trial.outcome == "ok" && trial.median_ns) {
      times[trial.configuration] = *trial.median_ns;
    } else {
      times.erase(trial.configuration);
    }
  }
  const db::BestRow& best = problem.entry.best;
  if (best.median_ns) times[best.configuration] = *best.median_ns;
  return times;
}

Portability matrix_of(const Report& report, std::vector<std::size_t> problems) {
  Portability result;
  result.problems = std::move(problems);
  result.target = report.problems[result.problems.front()].entry.kernel.target;
  for (const std::size_t problem : result.problems) {
    const std::string& winner = report.problems[problem].entry.best.configuration;
    const bool is_new =
        std::ranges::find(result.configurations, winner) == result.configurations.end();
    if (is_new) result.configurations.push_back(winner);
  }
  result.share.resize(result.configurations.size());
  for (const std::size_t problem : result.problems) {
    const auto times = times_of(report.problems[problem]);
    const double best = times.at(report.problems[problem].entry.best.configuration);
    for (std::size_t c = 0; c < result.configurations.size(); ++c) {
      const auto found = times.find(result.configurations[c]);
      // Times of the search and of the playoff are of different moments.
      const double share = found == times.end() ? 0 : std::min(1.0, best / found->second);
      result.share[c].push_back(share);
    }
  }
  return result;
}

void find_cover(Portability& result) {
  std::vector<std::vector<double>> ratios;
  for (const std::vector<double>& row : result.share) {
    auto& ratio = ratios.emplace_back();
    for (const double share : row) ratio.push_back(share > 0 ? 1 / share : kNever);
  }
  const Cover cover = smallest_cover(ratios, 1 + kCoverMargin);
  result.cover = cover.chosen;
  result.covered = result.problems.size() - cover.uncovered.size();
}

}  // namespace

std::vector<Portability> portability_of(const Report& report) {
  std::map<std::string, std::vector<std::size_t>> by_target;
  for (std::size_t i = 0; i < report.problems.size(); ++i) {
    const ReportedProblem& problem = report.problems[i];
    if (problem.trials.empty() || !problem.entry.best.median_ns) continue;
    by_target[problem.entry.kernel.target].push_back(i);
  }
  std::vector<Portability> all;
  for (auto& [target, problems] : by_target) {
    if (problems.size() < 2) continue;
    all.push_back(matrix_of(report, std::move(problems)));
    find_cover(all.back());
  }
  return all;
}

}  // namespace autotune::report
