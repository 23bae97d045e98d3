// SPDX-License-Identifier: Apache-2.0
#include "tuner/measure/batch.hpp"

#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

SteadyBatch time_steadily(Timer& timer, int launches, L2State l2, const Policy& policy,
                          double clock_hz, bool was_throttled) {
  SteadyBatch batch;
  const int repeats = was_throttled ? 0 : policy.throttled_repeats;
  for (int attempt = 0; attempt <= repeats; ++attempt) {
    const TimedBatch timed = timer.time(launches, l2);
    batch.seconds = timed.seconds;
    batch.spent += timed.spent(launches);
    batch.l2 = timed.l2;
    batch.clock_hz = timed.clock_hz;
    batch.throttled = timed.clock_hz > 0 && timed.clock_hz < policy.throttled_clock * clock_hz;
    if (!batch.throttled) break;
  }
  return batch;
}

double time_under_load(Timer& timer, int launches, L2State l2, const Policy& policy) {
  std::vector<double> counted;
  for (double spent = 0; spent < policy.load_seconds || counted.empty();) {
    const TimedBatch timed = timer.time(launches, l2);
    if (spent >= policy.load_seconds / 2) counted.push_back(timed.seconds);
    spent += timed.spent(launches);
  }
  return median(counted);
}

double at_reference_clock(double seconds, double clock_hz, double reference_hz,
                          const Policy& policy) {
  const bool is_lower = clock_hz > 0 && clock_hz < policy.full_clock * reference_hz;
  return is_lower ? seconds * clock_hz / reference_hz : seconds;
}

namespace {

constexpr double kSettling = 0.1;     // seconds before the first step that counts
constexpr double kLongestStep = 2.0;  // seconds

/// A step of the counter: its new value, the time just after it, and the calls so far.
struct Step {
  double joules = 0, at = 0, batch_seconds = 0;
  long long calls = 0;
};

/// Runs batches until the counter steps.
class Stepping {
 public:
  Stepping(const EnergyCounter& counter, const RunBatch& run, const Seconds& now)
      : counter_(counter), run_(run), now_(now), joules_(counter()) {}

  /// The first step at or after `earliest`.
  Step next(double earliest) {
    double last_step = now_();
    for (;;) {
      const double before = now_();
      calls_ += run_();
      const double joules = counter_(), at = now_();
      const bool stepped = joules != joules_;
      joules_ = joules;
      if (stepped && at >= earliest) return {joules, at, at - before, calls_};
      if (stepped) last_step = at;
      if (at - last_step > kLongestStep + (at - before)) {
        throw Error(format("the energy counter stays at {} J: use --objective time", joules));
      }
    }
  }

 private:
  const EnergyCounter& counter_;
  const RunBatch& run_;
  const Seconds& now_;
  double joules_;
  long long calls_ = 0;
};

}  // namespace

Energy sustained_energy(const EnergyCounter& counter, const RunBatch& run, double least_seconds,
                        const Seconds& now) {
  Stepping stepping(counter, run, now);
  const Step first = stepping.next(now() + kSettling);
  const Step last = stepping.next(first.at + least_seconds);
  Energy energy;
  energy.seconds = last.at - first.at;
  energy.joules = (last.joules - first.joules) / static_cast<double>(last.calls - first.calls);
  energy.watts = (last.joules - first.joules) / energy.seconds;
  // Each step may have occurred at any time during its batch.
  energy.resolution = (first.batch_seconds + last.batch_seconds) / 2 / energy.seconds;
  return energy;
}

}  // namespace autotune
