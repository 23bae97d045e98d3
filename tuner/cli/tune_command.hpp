// SPDX-License-Identifier: Apache-2.0
// The request of `tune`, as its arguments describe it, for any devices; sources that a manifest
// generates.
#pragma once

#include <chrono>
#include <string>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune::cli {

/// Runs the generator of this target, if its manifest has one. Writes its output to the manifest's
/// source if they differ. Throws Error if the program fails, prints nothing, or runs longer than a
/// minute; then it is killed with everything that it started.
void refresh_generated_source(const std::string& target);

/// `--l2`, `--launch` and `--context`. Throws UsageError.
Policy policy_of(const Arguments& arguments, DeviceKind kind);
/// The budget without `--budget`.
std::string default_budget(DeviceKind kind, const std::string& strategy);
/// The command line, for the session's row.
std::string command_text(const Arguments& arguments);
/// The kind of device that the text of `--device` names.
DeviceKind kind_asked_for(const Arguments& arguments);

/// `--bits` and `--over` of tune and cover.
extern const Option kBitsOption, kOverOption;

/// The library of `--bits like=NAME`. Throws UsageError if the device has none of this name.
BaselineSource library_called(const std::string& name, const Target& target, DeviceKind device,
                              Plugins& plugins);

class TuneCommand {
 public:
  /// Finds the target, its plugins and the strategy; opens no device. Throws UsageError or Error
  /// for what is wrong on every device. The arguments must outlive it.
  explicit TuneCommand(const Arguments& arguments);

  const Target& target() const { return target_; }
  /// The request for a kind of device. Its time starts with this object.
  TuningRequest request(DeviceKind kind);
  /// Which problems of the workload were left out, as a sentence; may be empty.
  const std::string& left_out() const { return asked_.left_out; }
  /// Why the database should be elsewhere; empty if it is on a local disk.
  std::string misplaced_database() const;
  /// Running plugins warn through these callbacks, and end when these or the budget tell them to.
  void run_hooks_with(const TuningCallbacks& callbacks);

 private:
  /// What the arguments say for a kind of device.
  struct Asked {
    TuningRequest request;
    std::string left_out;
  };
  Asked asked_of(DeviceKind kind) const;

  const std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  const Arguments& arguments_;
  Plugins plugins_;
  const Target target_;
  Asked asked_;  // for the kind that `--device` names
};

}  // namespace autotune::cli
