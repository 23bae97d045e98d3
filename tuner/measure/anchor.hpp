// SPDX-License-Identifier: Apache-2.0
// One configuration, timed over and over: how fast the device is now against the session's start.
#pragma once

#include <functional>

#include "tuner/measure/policy.hpp"

namespace autotune {

/// Times of different moments compare after division by drift(). Not thread-safe.
class Anchor {
 public:
  using Clock = std::function<double()>;  // seconds since any moment

  /// No anchor: the drift is 1, no batch counts as throttled.
  Anchor() = default;
  /// Warms the device up, then takes the reference. `timer` (usually the default configuration)
  /// outlives the anchor or its rebind(). Throws KernelFailure.
  Anchor(Timer& timer, const Policy& policy, Clock now = {});

  /// Measures when the last time is longer ago than the policy says. Never throws KernelFailure:
  /// an anchor that fails keeps its last drift, and is given up when it fails three times.
  void refresh_if_due();
  void refresh();
  /// The same configuration, loaded anew; null when it is no longer there.
  void rebind(Timer* timer) {
    timer_ = timer;
    failures_ = 0;
  }

  /// Times are from here on divided as if it had taken this long at the session's start: what it
  /// took then on another device, for times of the two to compare.
  void compare_with(double seconds);

  /// Time now over time at the session's start.
  double drift() const { return drift_; }
  /// The session's reference, in hertz; 0 when unknown.
  double clock_hz() const { return clock_hz_; }
  /// Seconds a launch at the session's start; 0 without an anchor.
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
