// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/alternative_answers.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "tuner/cli/tuned_entries.hpp"

namespace autotune::cli {
namespace {

/// The problem of `alternative` at the same sizes. nullopt if the target has another value than its
/// default for a setting that `alternative` lacks: it may compute something else then.
std::optional<Problem> same_problem(const Target& target, const Target& alternative,
                                    const EntryProblem& problem) {
  if (alternative.sizes != target.sizes) return std::nullopt;
  NamedValues settings;
  for (const NamedValue& each : problem.settings) {
    const auto is_it = [&](const Setting& one) { return one.name == each.name; };
    if (std::ranges::any_of(alternative.settings, is_it)) {
      settings.push_back(each);
    } else if (const auto own = std::ranges::find_if(target.settings, is_it);
               own == target.settings.end() || own->values.front() != each.value) {
      return std::nullopt;
    }
  }
  return problem_of(alternative, problem.sizes, settings);
}

/// Of what libautotune runs. Infinite if that was never timed.
double time_of(const db::BestRow& best) {
  const std::optional<double> ns = best.baseline.wins ? best.baseline.ns : best.median_ns;
  return ns.value_or(std::numeric_limits<double>::infinity());
}

}  // namespace

std::vector<db::TunedEntry> alternative_entries(const std::vector<db::TunedEntry>& entries,
                                                const db::TunedStore& store, AnswerJudge& judge) {
  std::vector<db::TunedEntry> found;
  for (const db::TunedEntry& entry : entries) {
    const Target* const target = judge.target_of(entry);
    if (!target || target->alternative.empty()) continue;
    const Target* const other = judge.target_called(target->alternative);
    if (!other) continue;
    const std::optional<Problem> problem = same_problem(*target, *other, problem_of(entry));
    if (!problem) continue;
    const std::string text = problem->text();
    const auto is_given = [&](const db::TunedEntry& one) {
      return one.kernel.target == other->name && one.best.key.problem == text;
    };
    if (std::ranges::any_of(entries, is_given)) continue;
    for (db::TunedEntry& one :
         store.tuned({entry.device.name, other->name, text, entry.best.key.policy})) {
      const bool is_faster = !one.best.baseline.wins && time_of(one.best) < time_of(entry.best);
      if (is_faster && judge.target_of(one)) found.push_back(std::move(one));
    }
  }
  return found;
}

}  // namespace autotune::cli
