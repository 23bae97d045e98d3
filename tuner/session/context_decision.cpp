// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/context_decision.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// Of the entry `i`, or nullptr.
const Measurement* time_of(const PlayoffResult& result, std::size_t i, CallContext context) {
  const FinalistResult& one = result.finalists[i];
  const auto found = one.other_contexts.find(context);
  return one.outcome == Outcome::ok && found != one.other_contexts.end() ? &found->second : nullptr;
}

std::optional<Tuned> tuned(const PlayedOff& played, std::size_t i, CallContext context) {
  const Measurement* const time = time_of(played.result, i, context);
  if (time == nullptr) return std::nullopt;
  return Tuned{played.finalists[i], *time, std::nullopt, true};
}

bool has_interval(const Measurement& time) { return time.samples >= kFewestForInterval; }

std::size_t winner_in(CallContext context, const PlayedOff& played, const Policy& policy) {
  std::size_t winner = *played.result.winner;
  const Measurement holder = *time_of(played.result, winner, context);
  double least = holder.median * (1 - policy.replace_margin);
  for (std::size_t i = 0; i < played.finalists.size(); ++i) {
    const Measurement* const time = time_of(played.result, i, context);
    if (time == nullptr || time->median >= least || time->high >= holder.low) continue;
    if (!has_interval(*time) || !has_interval(holder)) continue;
    least = time->median;
    winner = i;
  }
  return winner;
}

/// Their ratios are those of the times, without pairs. With too few samples for an interval, a
/// baseline wins where it wins in the policy's context.
std::vector<BaselineReport> baselines_in(CallContext context, const PlayedOff& played,
                                         const Measurement& best) {
  std::vector<BaselineReport> reports;
  for (std::size_t i = 0; i < played.baselines.size(); ++i) {
    const std::size_t number = played.finalists.size() + i;
    const Measurement* const time = time_of(played.result, number, context);
    if (time == nullptr) continue;
    const Ratio ratio{time->median / best.median, time->low / best.high, time->high / best.low,
                      std::min(time->samples, best.samples)};
    const std::optional<Ratio>& decided = played.result.finalists[number].to_winner;
    const bool wins = is_clearly_below_one(
        has_interval(*time) && has_interval(best) ? ratio : decided.value_or(Ratio{}));
    const BaselineCandidate& one = played.baselines[i];
    reports.push_back({one.source.plugin.stem().string(), one.name, *time, ratio, wins});
  }
  std::ranges::sort(reports, {}, [](const BaselineReport& one) { return one.to_best.median; });
  return reports;
}

}  // namespace

std::optional<ContextDecision> decision_in(CallContext context, const PlayedOff& played,
                                           const Policy& policy) {
  const bool is_timed =
      played.result.winner && time_of(played.result, *played.result.winner, context) != nullptr;
  if (!is_timed) return std::nullopt;
  ContextDecision there;
  there.winner = winner_in(context, played, policy);
  there.decision.best = tuned(played, there.winner, context);
  if (played.by_default) {
    there.decision.default_configuration = tuned(played, *played.by_default, context);
  }
  there.decision.baselines = baselines_in(context, played, there.decision.best->measurement);
  return there;
}

}  // namespace autotune
