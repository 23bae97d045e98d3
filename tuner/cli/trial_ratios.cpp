// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/trial_ratios.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {

double limit_of(const Arguments& arguments) {
  const std::string text = arguments.text("within");
  try {
    std::size_t read = 0;
    const double percent = std::stod(text, &read);
    const bool is_whole = read == text.size() || text.substr(read) == "%";
    if (is_whole && percent >= 0 && percent <= 1000) return 1 + percent / 100;
  } catch (const std::logic_error&) {  // no number
  }
  throw UsageError(format("--within {}: give percent from 0 to 1000, such as 3%", text));
}

std::map<std::string, double> trial_ratios(const db::TunedStore& store, const db::TunedEntry& entry,
                                           double limit) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::map<std::string, double> ratios;
  std::set<std::string> bounds;  // pruned: the time is a lower bound
  for (const db::TrialRow& row : store.standing(entry.best.key)) {
    if (row.stage != "search") continue;
    const bool is_timed = (row.outcome == "ok" || row.outcome == "pruned") && row.median_ns;
    ratios[row.configuration] = is_timed ? *row.median_ns : kInfinity;
    bounds.erase(row.configuration);
    if (row.outcome == "pruned") bounds.insert(row.configuration);
  }
  double best = kInfinity;
  for (const auto& [configuration, ns] : ratios) best = std::min(best, ns);
  for (auto& [configuration, ratio] : ratios) {
    if (std::isfinite(best)) ratio /= best;  // else all fail
    if (bounds.contains(configuration) && ratio <= limit) ratio = kInfinity;
  }
  const bool by_time = entry.best.key.policy.find(" objective=") == std::string::npos;
  const bool is_decided = entry.best.decided && entry.best.provenance != "pinned";
  if (!ratios.empty() && is_decided && by_time)
    ratios[entry.best.configuration] = 1;  // by the playoff
  return ratios;
}

}  // namespace autotune::cli
