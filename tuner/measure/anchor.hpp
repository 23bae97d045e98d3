// SPDX-License-Identifier: Apache-2.0
// The anchor: one configuration, timed again and again to correct times for drift of the device.
#pragma once

#include <functional>

#include "tuner/measure/policy.hpp"

namespace autotune {

/// Times divided by drift() compare across moments. Not thread-safe.
class Anchor {
 public:
  using Clock = std::function<double()>;  // seconds since an arbitrary moment

  /// Without a configuration: the drift is 1, and no batch counts as throttled.
  Anchor() = default;
  /// Warms up the device, then measures the reference. `timer` (usually the default configuration)
  /// must outlive the anchor or the next rebind(). Throws KernelFailure.
  Anchor(Timer& timer, const Policy& policy, Clock now = {});

  /// Measures again if the last measurement is older than the policy allows. Does not throw
  /// KernelFailure: after a failure the drift stays. After three failures in a row, the anchor is
  /// given up.
  void refresh_if_due();
  void refresh();
  /// Replaces the timer after the configuration was loaded again; null if it cannot be loaded.
  void rebind(Timer* timer) {
    timer_ = timer;
    failures_ = 0;
  }

  /// Sets the reference to the time on another device, so that times of the two devices compare.
  void compare_with(double seconds);

  /// Time now, at the reference clock, over time at the session's start.
  double drift() const { return drift_; }
  /// The reference SM clock in hertz; 0 if unknown.
  double clock_hz() const { return clock_hz_; }
  /// Seconds per launch at the session's start; 0 without an anchor.
  double seconds() const { return reference_; }

 private:
  struct Sample {
    double seconds = 0;
    double clock_hz = 0;
  };
  Sample measure();

  Timer* timer_ = nullptr;
  Policy policy_;
  Clock now_;
  int launches_ = 1;
  int failures_ = 0;  // in a row
  double reference_ = 0;
  double clock_hz_ = 0;
  double drift_ = 1;
  double due_ = 0;
};

}  // namespace autotune
