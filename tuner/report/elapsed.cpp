// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/elapsed.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <utility>

namespace autotune::report {
namespace {

/// Seconds since 1970 of `2026-03-01T12:00:00.250000Z`; 0 for any other text.
double seconds_of(const std::string& text) {
  int year = 0, hour = 0, minute = 0;
  unsigned month = 0, day = 0;
  double second = 0;
  if (std::sscanf(text.c_str(), "%d-%u-%uT%d:%d:%lf", &year, &month, &day, &hour, &minute,
                  &second) != 6) {
    return 0;
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return 86400.0 * static_cast<double>(days) + 3600.0 * hour + 60.0 * minute + second;
}

}  // namespace

std::vector<double> elapsed_of(const std::vector<db::TrialRow>& trials) {
  std::vector<double> elapsed;
  double before = 0, now = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const double time = seconds_of(trials[i].created_at);
    const bool goes_on = i > 0 && trials[i].session == trials[i - 1].session;
    if (goes_on) now += std::max(0.0, time - before);
    before = time;
    elapsed.push_back(now);
  }
  return elapsed;
}

std::vector<Spent> spent_on(const std::vector<db::TrialRow>& trials) {
  const std::vector<double> elapsed = elapsed_of(trials);
  std::map<std::pair<std::string, std::string>, Spent> by_kind;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const db::TrialRow& trial = trials[i];
    Spent& spent = by_kind[{trial.stage, trial.outcome}];
    spent.stage = trial.stage;
    spent.outcome = trial.outcome;
    ++spent.trials;
    if (i > 0) spent.elapsed_seconds += elapsed[i] - elapsed[i - 1];
    // A finalist's row of the playoff repeats the compile time of its row of the search.
    if (trial.stage != "playoff") spent.compile_seconds += trial.compile_seconds;
  }
  std::vector<Spent> all;
  for (auto& [kind, spent] : by_kind) all.push_back(std::move(spent));
  std::ranges::stable_sort(all, std::greater(), &Spent::elapsed_seconds);
  return all;
}

}  // namespace autotune::report
