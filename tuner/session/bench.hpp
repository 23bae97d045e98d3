// SPDX-License-Identifier: Apache-2.0
// One device at work on one problem: its buffers, its anchor, and its measurements.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/core/trial.hpp"
#include "tuner/measure/anchor.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

// Limits of the device, tested before a launch.

/// The gate before compiling, after that of launch_plan(). It tests clusters and the manifest's
/// estimates of static shared memory and registers. Returns a sentence that names the limit, or
/// nullopt.
std::optional<std::string> breaks_declared_limit(const LaunchPlan& plan,
                                                 const TargetProgram::Estimates& estimates,
                                                 const DeviceInfo& device);

/// The gate after compiling: the resources of the binary. Returns as above.
std::optional<std::string> breaks_compiled_limit(const CompiledKernel& kernel,
                                                 const LaunchPlan& plan, const DeviceInfo& device);

/// The launch that represents the configuration: the one with the most dynamic shared memory, then
/// with the most threads.
const Launch& heaviest(const LaunchPlan& plan);

/// Input of the occupancy model for one launch.
KernelShape shape_of(const Launch& launch, const KernelResources& resources);

/// A configuration that a device can load.
struct Loadable {
  std::shared_ptr<const CompiledKernel> kernel;
  LaunchPlan plan;
};

/// Not thread-safe. Buffers and anchor are made at first use.
class Bench {
 public:
  /// Returns the anchor's configuration, called once when the anchor is made. nullopt: no anchor.
  using AnchorSource = std::function<std::optional<Loadable>()>;

  /// All arguments must outlive the bench.
  Bench(Device& device, const Target& target, const Problem& problem, const Policy& policy,
        AnchorSource anchor_source)
      : device_(device),
        target_(target),
        problem_(problem),
        policy_(policy),
        anchor_source_(std::move(anchor_source)) {}

  Device& device() const { return device_; }
  /// Throws Error.
  Workbench& workbench();
  /// The anchor. If its configuration fails, times are not corrected for drift. Throws Error.
  Anchor& anchor();
  bool has_anchor() const { return anchor_.has_value(); }
  /// How the anchor's configuration failed, if it did while it was timed.
  const std::optional<KernelFailure>& anchor_failure() const { return anchor_failure_; }
  /// Frees buffers and anchor.
  void close();

  /// Loads, verifies and times a configuration in the search's context, then verifies it again.
  /// `best_seconds` is the best time so far, 0 for none. Failures of the configuration are stored
  /// in the trial. If other programs disturb the device, its message says so (kDisturbed). A time
  /// below time_floor() is measured again, and then fails the trial as one of the machine. Throws
  /// Error if the device fails.
  void measure(Trial& trial, const Loadable& configuration, double best_seconds);

  Phases& phases() { return phases_; }
  const Phases& phases() const { return phases_; }
  /// Number of measure() calls.
  int measured() const { return measured_; }
  /// Mean time of a trial; 0 before the first.
  double seconds_of_one() const {
    return (phases_.verify + phases_.measure) / std::max(measured_, 1);
  }
  /// The reference SM clock in hertz; 0 if unknown.
  double clock_hz() const { return anchor_ ? anchor_->clock_hz() : 0; }

  /// Seconds that no time may be below.
  double time_floor();

 private:
  Judgement judged(Candidate& candidate, double best_seconds, double single_launch);

  Device& device_;
  const Target& target_;
  const Problem& problem_;
  const Policy& policy_;
  const AnchorSource anchor_source_;
  Phases phases_;
  int measured_ = 0;
  std::unique_ptr<Workbench> workbench_;
  std::unique_ptr<Candidate> anchor_candidate_;
  std::optional<InContext> anchor_timer_;
  std::optional<Anchor> anchor_;
  std::optional<KernelFailure> anchor_failure_;
  std::optional<double> time_floor_;
};

/// Why a time below the floor does not count. Both in seconds.
std::string too_fast_text(double seconds, double floor);

/// Returns the result of `load`. If `load` throws KernelFailure, returns a candidate that throws
/// the same at every call. A playoff then loses this finalist only.
std::unique_ptr<Candidate> reloaded(const std::function<std::unique_ptr<Candidate>()>& load);

}  // namespace autotune
