// SPDX-License-Identifier: Apache-2.0
// The output of `tune`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/progress.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/tuning_report.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune::cli {

/// The result on one kind of device.
struct DeviceReport {
  DeviceInfo device;
  TuningReport report;
};

class TuneOutput {
 public:
  TuneOutput(const Arguments& arguments, const Target& target, const TuningRequest& request,
             std::filesystem::path database);

  void show(const Progress& progress) { display_.show(progress); }
  /// A problem that is tuned.
  void show(const DeviceInfo& device, const ProblemReport& report);
  /// Prints nothing for an empty text.
  void warn_of(const std::string& sentence);
  /// The end of the run, one report for each kind of device. Returns the exit status.
  int end(const std::vector<DeviceReport>& reports);

 private:
  const Target& target_;
  const std::filesystem::path database_;
  const bool json_;
  ProgressDisplay display_;
};

}  // namespace autotune::cli
