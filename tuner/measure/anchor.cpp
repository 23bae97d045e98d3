// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/anchor.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune {
namespace {

bool last_three_agree(std::span<const double> windows, double within) {
  if (windows.size() < 3) return false;
  const auto [least, most] = std::ranges::minmax(windows.last(3));
  return most <= least * (1 + within);
}

/// Runs batches until windows of them agree: then clocks have risen and caches are warm.
void warm_up(Timer& timer, int launches, const Policy& policy) {
  double spent = 0;
  std::vector<double> windows;
  while (spent < policy.warm_up_seconds && !last_three_agree(windows, policy.warm_up_agreement)) {
    std::vector<double> batches;
    for (double window = 0; window < policy.warm_up_window;) {
      const TimedBatch batch = timer.time(launches, policy.l2);
      batches.push_back(batch.seconds);
      window += batch.spent(launches);
      spent += batch.spent(launches);
    }
    windows.push_back(median(batches));
  }
}

}  // namespace

Anchor::Anchor(Timer& timer, const Policy& policy, Clock now)
    : timer_(&timer), policy_(policy), now_(now ? std::move(now) : steady_seconds) {
  launches_ = launches_for(timer.time(1, policy.l2).seconds, policy);
  warm_up(timer, launches_, policy);
  start_from(measure());
}

void Anchor::refresh_if_due() {
  if (timer_ && now_() >= due_) refresh();
}

void Anchor::refresh() {
  if (!timer_) return;
  try {
    Sample sample;
    double drift = 1;
    for (int repeats = 0; repeats <= policy_.drift_repeats; ++repeats) {
      sample = measure();
      drift = at_reference_clock(sample.seconds, sample.clock_hz, clock_hz_, policy_) / reference_;
      is_disturbed_ = drift > policy_.most_drift || drift < 1 / policy_.most_drift;
      if (!is_disturbed_) break;
    }
    if (!is_disturbed_) {
      drift_ = drift;
    } else if (drift < 1) {
      start_from(sample);
    }
  } catch (const KernelFailure& failure) {
    if (failure.outcome() != Outcome::killed) failure_ = failure;
    timer_ = nullptr;
  }
}

void Anchor::start_from(const Sample& sample) {
  reference_ = sample.seconds;
  clock_hz_ = sample.clock_hz;
  drift_ = 1;
  is_disturbed_ = false;
}

void Anchor::compare_with(double seconds) {
  drift_ *= reference_ / seconds;
  reference_ = seconds;
}

Anchor::Sample Anchor::measure() {
  const double started = now_();
  std::vector<double> seconds, clocks;
  double spent = 0;
  for (int i = 0; i < policy_.fewest_batches && spent < policy_.visit_seconds; ++i) {
    const TimedBatch batch = timer_->time(launches_, policy_.l2);
    seconds.push_back(batch.seconds);
    clocks.push_back(batch.clock_hz);
    spent += batch.spent(launches_);
  }
  const double ended = now_();
  due_ = ended + std::max(policy_.anchor_seconds, (ended - started) / policy_.anchor_share);
  return {median(seconds), median(clocks)};
}

}  // namespace autotune
