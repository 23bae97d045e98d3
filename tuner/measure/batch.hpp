// SPDX-License-Identifier: Apache-2.0
// One batch: in a given call context, and repeated while the SM clock is low.
#pragma once

#include <functional>

#include "tuner/core/device.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune {

/// `timer` must outlive it.
class InContext : public Timer {
 public:
  InContext(Timer& timer, CallContext context) : timer_(timer), context_(context) {}

  TimedBatch time(int launches, L2State l2) override {
    return timer_.time_in(context_, launches, l2);
  }

 private:
  Timer& timer_;
  CallContext context_;
};

struct SteadyBatch {
  double seconds = 0;      // per launch
  double clock_hz = 0;     // of the multiprocessors; 0 if unknown
  bool throttled = false;  // the clock stayed low in all repeats
  double spent = 0;        // seconds of all repeats, with their overhead
  L2State l2 = L2State::hot;
};

/// Times a batch. Repeats it while the SM clock is below the policy's share of `clock_hz`, and
/// keeps the last. Nothing is repeated if the batch before, of the same kernel, stayed low in all
/// repeats (`was_throttled`), or without a known clock (`clock_hz` is 0). Throws KernelFailure.
SteadyBatch time_steadily(Timer& timer, int launches, L2State l2, const Policy& policy,
                          double clock_hz, bool was_throttled = false);

/// What `seconds` at a clearly lower clock are at the reference clock, in as many cycles. A search
/// compares these: power lowers the clock for kernels that keep multiprocessors busy, by an amount
/// that depends on what ran before. Clocks are in hertz; without them `seconds` stay.
double at_reference_clock(double seconds, double clock_hz, double reference_hz,
                          const Policy& policy);

/// Seconds of a launch under load: the median of the batches in the second half of
/// `policy.load_seconds` of launches without a pause. Throws KernelFailure.
double time_under_load(Timer& timer, int launches, L2State l2, const Policy& policy);

// The energy of a call, from a counter that steps only every few tens of milliseconds.

/// Joules that a device has used since some moment. It steps at intervals.
using EnergyCounter = std::function<double()>;
/// Seconds since some moment.
using Seconds = std::function<double()>;
/// Runs a batch and returns its number of calls.
using RunBatch = std::function<int()>;

/// Runs batches from a step of the counter to one at least `least_seconds` later: the difference is
/// the energy of the calls in between. Warm-up batches come first. Throws Error if the counter does
/// not advance.
Energy sustained_energy(const EnergyCounter& counter, const RunBatch& run, double least_seconds,
                        const Seconds& now);

}  // namespace autotune
