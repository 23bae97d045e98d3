// SPDX-License-Identifier: Apache-2.0
// A device that measures configurations of another device's search.
#pragma once

#include <optional>
#include <string>

#include "tuner/session/bench.hpp"

namespace autotune {

/// For one thread. Throws Error if the device fails.
class SearchHelper {
 public:
  virtual ~SearchHelper() = default;
  /// Seconds of the default configuration. To be called first, and once.
  virtual double time_default(const Loadable& default_configuration) = 0;
  /// Scales times from now on: the default configuration takes `seconds` on the search's device.
  virtual void compare_with(double seconds) = 0;
  /// As Bench::measure().
  virtual void measure(Trial& trial, const Loadable& configuration, double best_seconds) = 0;
};

/// A device of this process.
class LocalHelper final : public SearchHelper {
 public:
  /// All must outlive it. The device must be isolated.
  LocalHelper(Device& device, const Target& target, const Problem& problem, const Policy& policy)
      : bench_(device, target, problem, policy, [this] { return default_; }) {}
  LocalHelper(const LocalHelper&) = delete;
  LocalHelper& operator=(const LocalHelper&) = delete;

  double time_default(const Loadable& default_configuration) override {
    default_ = default_configuration;
    const Device::Turn turn = bench_.device().take_turn();
    return bench_.anchor().seconds();
  }
  void compare_with(double seconds) override { bench_.anchor().compare_with(seconds); }
  void measure(Trial& trial, const Loadable& configuration, double best_seconds) override {
    bench_.measure(trial, configuration, best_seconds);
  }

 private:
  std::optional<Loadable> default_;
  Bench bench_;
};

/// Why a device helps with nothing. `label` names it, `ratio` is its time of the default
/// configuration over that of the device that it should help.
std::string stays_apart_text(const std::string& label, double ratio, const std::string& problem);

}  // namespace autotune
