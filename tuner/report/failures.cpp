// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/failures.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "tuner/core/value.hpp"

namespace autotune::report {
namespace {

constexpr int kFewest = 3;           // trials of a reason, for a common value
constexpr double kLeastShare = 0.5;  // of the reason's trials
constexpr double kLeastLift = 1.25;
constexpr std::size_t kMost = 3;

using Counts = std::map<std::pair<std::string, std::string>, int>;  // of name and value

void count(Counts& counts, const NamedValues& configuration) {
  for (const NamedValue& each : configuration) ++counts[{each.name, each.value.text()}];
}

std::vector<Shared> shared_by(const Reason& reason, const std::vector<NamedValues>& configurations,
                              const Counts& everywhere) {
  if (reason.count() < kFewest) return {};
  Counts here;
  for (const std::size_t trial : reason.trials) count(here, configurations[trial]);
  std::vector<Shared> all;
  for (const auto& [named, times] : here) {
    const double share = static_cast<double>(times) / reason.count();
    const double usual =
        static_cast<double>(everywhere.at(named)) / static_cast<double>(configurations.size());
    if (share < kLeastShare || share < kLeastLift * usual) continue;
    all.push_back({named.first, named.second, share, share / usual});
  }
  std::ranges::stable_sort(all, std::greater(), &Shared::lift);
  all.resize(std::min(all.size(), kMost));
  return all;
}

}  // namespace

std::vector<Failure> failures_of(const std::vector<db::TrialRow>& trials) {
  std::vector<NamedValues> configurations;
  Counts everywhere;
  for (const db::TrialRow& trial : trials) {
    configurations.push_back(parse_named_values(trial.configuration));
    count(everywhere, configurations.back());
  }
  std::vector<Failure> failures;
  for (Reason& reason : reasons_of(trials)) {
    std::vector<Shared> shared = shared_by(reason, configurations, everywhere);
    failures.push_back({std::move(reason), std::move(shared)});
  }
  return failures;
}

}  // namespace autotune::report
