// SPDX-License-Identifier: Apache-2.0
// A device that measures configurations of the search of another device of this process.
#pragma once

#include <optional>

#include "tuner/session/bench.hpp"

namespace autotune {

/// For one thread. Throws Error if the device fails.
class SearchHelper {
 public:
  /// All must outlive it. The device must be isolated.
  SearchHelper(Device& device, const Target& target, const Problem& problem, const Policy& policy)
      : bench_(device, target, problem, policy, [this] { return default_; }) {}
  SearchHelper(const SearchHelper&) = delete;
  SearchHelper& operator=(const SearchHelper&) = delete;

  /// Seconds of the default configuration. To be called first, and once.
  double time_default(const Loadable& default_configuration) {
    default_ = default_configuration;
    const Device::Turn turn = bench_.device().take_turn();
    return bench_.anchor().seconds();
  }
  /// Scales times from now on: the default configuration takes `seconds` on the search's device.
  void compare_with(double seconds) { bench_.anchor().compare_with(seconds); }
  /// How the default configuration failed, as the anchor of this device.
  const std::optional<KernelFailure>& anchor_failure() const { return bench_.anchor_failure(); }
  /// As Bench::measure().
  void measure(Trial& trial, const Loadable& configuration, double best_seconds) {
    bench_.measure(trial, configuration, best_seconds);
  }

 private:
  std::optional<Loadable> default_;
  Bench bench_;
};

}  // namespace autotune
