// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/judge.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <vector>

#include "tuner/measure/batch.hpp"

namespace autotune {
namespace {

/// A series of batches of one candidate. Times are at the reference clock, divided by the drift.
class Visit {
 public:
  Visit(Timer& timer, int launches, const Policy& policy, const Anchor& anchor)
      : timer_(timer), launches_(launches), policy_(policy), anchor_(anchor) {}

  double take() {
    const SteadyBatch batch =
        time_steadily(timer_, launches_, policy_.l2, policy_, anchor_.clock_hz(), was_throttled_);
    spent_ += batch.spent;
    throttled_ |= batch.throttled;
    was_throttled_ = batch.throttled;
    const double seconds =
        at_reference_clock(batch.seconds, batch.clock_hz, anchor_.clock_hz(), policy_);
    correction_ = std::max(correction_, 1 - seconds / batch.seconds);
    times_.push_back(seconds / anchor_.drift());
    return times_.back();
  }

  /// Discards the times, but keeps the time spent.
  void restart(int launches) {
    launches_ = launches;
    throttled_ = false;
    correction_ = 0;
    times_.clear();
  }

  /// Times batches until the result is clear. `best` as in judge().
  Decision run(double best) {
    for (;;) {
      take();
      if (const std::optional<Decision> decision = decided(best)) return *decision;
    }
  }

  Measurement measurement(Decision decision) const {
    Measurement result = summarize(times_);
    if (decision == Decision::screened) result.median = result.low;
    result.throttled = throttled_;
    result.correction = correction_;
    return result;
  }

  int launches() const { return launches_; }
  double spent() const { return spent_; }

 private:
  std::optional<Decision> decided(double best) const {
    const int batches = static_cast<int>(times_.size());
    if (batches < 2) return std::nullopt;
    if (best > 0 && batches == 2 && std::ranges::min(times_) > policy_.screen_ratio * best) {
      return Decision::screened;
    }
    const bool enough = batches >= policy_.fewest_batches;
    if (best > 0 && enough && is_outrun(best)) return Decision::outrun;
    if (enough && relative_half_width(times_) < policy_.precision) return Decision::measured;
    if (batches >= policy_.most_batches || spent_ >= policy_.visit_seconds) {
      return Decision::measured;
    }
    return std::nullopt;
  }

  bool is_outrun(double best) const {
    return mean(times_) - policy_.race_standard_errors * standard_error(times_) >
           best * (1 + policy_.race_margin);
  }

  Timer& timer_;
  int launches_;
  const Policy& policy_;
  const Anchor& anchor_;
  double spent_ = 0;
  double correction_ = 0;
  bool throttled_ = false, was_throttled_ = false;  // any batch, the last one
  std::vector<double> times_;
};

/// A single launch takes longer than one of a batch. Less the excess, it is a lower bound.
double lower_bound(double single_launch, const Policy& policy) {
  return std::max(single_launch - policy.single_launch_excess, single_launch / 2);
}

/// Sets the launches per batch. A launch as long as a batch counts as a sample. Otherwise the first
/// batch does, unless it shows that the single launch was misleading.
void settle_launches(Visit& visit, double single_launch, const Policy& policy) {
  const int launches = launches_for(single_launch, policy);
  if (launches == 1) return;
  visit.restart(launches);
  const int better = launches_for(visit.take(), policy);
  if (std::abs(better - launches) > launches / 4) visit.restart(better);
}

/// The judgement after a single launch that was far too slow.
Judgement hopeless(double launch, double bound) {
  Judgement judgement{Outcome::pruned, Decision::screened, summarize({&launch, 1}), false, 0};
  judgement.measurement.median = judgement.measurement.low = bound;
  return judgement;
}

Judgement judged(const Visit& visit, Decision decision) {
  const bool pruned = decision == Decision::screened;
  return {pruned ? Outcome::pruned : Outcome::ok, decision, visit.measurement(decision), false,
          visit.spent()};
}

}  // namespace

std::string_view name_of(Decision decision) {
  static constexpr std::array<std::string_view, 5> kNames = {"screened", "outrun", "measured",
                                                             "confirmed", "unconfirmed"};
  return kNames[static_cast<std::size_t>(decision)];
}

double give_up_seconds(double best, const Policy& policy) {
  return best > 0 ? policy.hopeless_ratio * best + policy.first_launch_excess : 0;
}

Judgement given_up(double first_launch, const Policy& policy) {
  return hopeless(first_launch, first_launch - policy.first_launch_excess);
}

Judgement judge(Timer& candidate, double best, const Policy& policy, Anchor& anchor,
                double single_launch) {
  anchor.refresh_if_due();
  // A time on a disturbed device may be far too long: it gives up nothing.
  const double rival = anchor.is_disturbed() ? 0 : best;
  Visit visit(candidate, 1, policy, anchor);
  // A launch as long as a batch is timed as a batch.
  if (single_launch > 0 && launches_for(single_launch, policy) > 1) {
    single_launch /= anchor.drift();
  } else {
    single_launch = visit.take();
  }
  const auto is_hopeless = [&] {
    return rival > 0 && lower_bound(single_launch, policy) > policy.hopeless_ratio * rival;
  };
  if (is_hopeless() && single_launch < policy.longest_delay) {
    single_launch = std::min(single_launch, visit.take());
  }
  if (is_hopeless()) {
    Judgement result = hopeless(single_launch, lower_bound(single_launch, policy));
    result.device_seconds = visit.spent();
    return result;
  }
  settle_launches(visit, single_launch, policy);

  Judgement first = judged(visit, visit.run(rival));
  const double median = first.measurement.median;
  first.leads = first.decision == Decision::measured && (best == 0 || median < best);
  if (!first.leads || best == 0 || median > best * (1 - policy.confirm_margin)) return first;

  anchor.refresh();  // also puts some time between the visits
  Visit again(candidate, visit.launches(), policy, anchor);
  again.run(0);
  Judgement second = judged(again, Decision::confirmed);
  second.leads = second.measurement.median < best;
  if (!second.leads) second.decision = Decision::unconfirmed;
  second.device_seconds += first.device_seconds;
  return second;
}

}  // namespace autotune
