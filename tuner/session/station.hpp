// SPDX-License-Identifier: Apache-2.0
// One device at work on one problem: its buffers, its anchor, and what it makes of configurations.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/measure/anchor.hpp"
#include "tuner/session/phases.hpp"

namespace autotune {

/// A configuration as a device is given it.
struct Loadable {
  std::shared_ptr<const CompiledKernel> kernel;
  LaunchPlan plan;
};

/// Not thread-safe. Buffers and anchor are made when they are first needed.
class Station {
 public:
  /// What the anchor is to be, asked for when it is made; nothing: there is none.
  using Standard = std::function<std::optional<Loadable>()>;

  /// All outlive the station.
  Station(Device& device, const Target& target, const Problem& problem, const Policy& policy,
          Standard standard)
      : device_(device),
        target_(target),
        problem_(problem),
        policy_(policy),
        standard_(std::move(standard)) {}

  Device& device() const { return device_; }
  /// Throws Error.
  Workbench& workbench();
  /// Measures times against it; one without a standard where that fails. Throws Error.
  Anchor& anchor();
  bool has_anchor() const { return anchor_.has_value(); }
  /// Frees buffers and anchor.
  void close();

  /// Loads, verifies and judges it against the time of the best so far, 0 for none, and checks that
  /// it still works after so many calls. However the
  /// configuration fails is in the trial. Throws Error when the device does.
  void measure(Trial& trial, const Loadable& configuration, double best_seconds);

  Phases& phases() { return phases_; }
  const Phases& phases() const { return phases_; }
  /// Calls of measure().
  int measured() const { return measured_; }

 private:
  Device& device_;
  const Target& target_;
  const Problem& problem_;
  const Policy& policy_;
  const Standard standard_;
  Phases phases_;
  int measured_ = 0;
  std::unique_ptr<Workbench> workbench_;
  std::unique_ptr<Candidate> anchor_candidate_;
  std::optional<Anchor> anchor_;
};

}  // namespace autotune
