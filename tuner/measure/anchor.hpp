// SPDX-License-Identifier: Apache-2.0
// The anchor: one configuration, timed again and again to correct times for drift of the device.
#pragma once

#include <functional>
#include <optional>

#include "tuner/measure/policy.hpp"

namespace autotune {

/// Times divided by drift() compare across moments. Not thread-safe.
class Anchor {
 public:
  using Clock = std::function<double()>;  // seconds since an arbitrary moment

  /// Without a configuration: the drift is 1, and no batch counts as throttled.
  Anchor() = default;
  /// Warms up the device, then measures the reference. `timer` (usually the default configuration)
  /// must outlive the anchor. Throws KernelFailure.
  Anchor(Timer& timer, const Policy& policy, Clock now = {});

  /// Measures again if the last measurement is older than the policy allows. Does not throw
  /// KernelFailure: after a failure the drift stays, and the anchor is given up.
  void refresh_if_due();
  void refresh();

  /// Whether other programs disturb the device: the last drift was beyond the policy's most_drift,
  /// also when measured again. Such a drift corrects nothing, as it says little about other
  /// configurations. An anchor that became that much faster was disturbed at the session's start,
  /// and its time now is the new reference.
  bool is_disturbed() const { return is_disturbed_; }
  /// How the anchor's configuration failed, if it did.
  const std::optional<KernelFailure>& failure() const { return failure_; }

  /// Sets the reference to the time on another device, so that times of the two devices compare.
  void compare_with(double seconds);

  /// Time now, at the reference clock, over time at the session's start. While the device is
  /// disturbed, that of the time before.
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
  void start_from(const Sample& sample);

  Timer* timer_ = nullptr;
  Policy policy_;
  Clock now_;
  int launches_ = 1;
  std::optional<KernelFailure> failure_;
  bool is_disturbed_ = false;
  double reference_ = 0;
  double clock_hz_ = 0;
  double drift_ = 1;
  double due_ = 0;
};

}  // namespace autotune
