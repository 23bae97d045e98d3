// SPDX-License-Identifier: Apache-2.0
// A device with known results: the test defines the time or failure of each configuration.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "tuner/core/device.hpp"

namespace autotune::testing {

/// Macro name -> number, as in the prelude of a configuration.
using Macros = std::map<std::string, std::int64_t>;

/// The result of one configuration.
struct Fate {
  Outcome outcome = Outcome::ok;
  double seconds = 1e-5;
  std::string message;
  double joules = 0;    // of a launch; 0: no counter
  int stops_after = 0;  // after this many batches it does nothing, in a tenth of the time; 0: never
  bool has_cold = false;  // whether it can be timed with a cold L2 cache
  /// Called before each batch of a candidate, with their number so far. Returns how many times as
  /// long as `seconds` it takes, or throws KernelFailure.
  std::function<double(CallContext, L2State, int batches)> on_time = {};
  Outcome energy_outcome = Outcome::ok;  // else measuring the energy fails so
  double worst_error = 0;                // of a wrong result; 0: an access
};

class FakeDevice final : public Device {
 public:
  using Truth = std::function<Fate(const Macros&)>;
  explicit FakeDevice(Truth truth);

  const DeviceInfo& info() const override { return info_; }
  CompiledKernel compile(const SourceUnit& unit) override;
  bool repeats() const override { return repeats_; }
  bool isolated() const override { return true; }
  std::unique_ptr<Workbench> open(const Workload& workload) override;
  bool takes_turns() const override { return takes_turns_; }
  std::string no_energy() override { return measures_energy_ ? "" : Device::no_energy(); }

  void measure_energy() { measures_energy_ = true; }
  DeviceInfo& mutable_info() { return info_; }
  /// Two problems at a time.
  void let_two_take_turns() {
    takes_turns_ = true;
    info_.memory_bytes = std::int64_t{1} << 30;
  }
  /// Like a real device: trials may run in the order in which compilations finish.
  void do_not_repeat() { repeats_ = false; }
  /// Baseline candidates for every problem: name and result.
  std::vector<std::pair<std::string, Fate>>& baselines() { return baselines_; }
  int compiled() const { return compiled_; }
  int opened() const { return opened_; }
  int loaded() const { return loaded_; }
  const Truth& truth() const { return truth_; }
  /// Called at each load with the number of earlier loads.
  void on_load(std::function<void(int)> listener) { on_load_ = std::move(listener); }
  void count_load() {
    const int before = loaded_++;
    if (on_load_) on_load_(before);
  }

 private:
  Truth truth_;
  DeviceInfo info_;
  bool repeats_ = true;
  bool measures_energy_ = false;
  bool takes_turns_ = false;
  std::vector<std::pair<std::string, Fate>> baselines_;
  std::function<void(int)> on_load_;
  std::atomic<int> compiled_ = 0, opened_ = 0, loaded_ = 0;
};

}  // namespace autotune::testing
