// SPDX-License-Identifier: Apache-2.0
// The output of `tune`, and its progress on stderr.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/session/tuning_session.hpp"

namespace autotune::cli {

class ProgressDisplay {
 public:
  using Clock = std::chrono::steady_clock;
  /// `quiet`: warnings only. A time budget starts at `started`.
  ProgressDisplay(bool quiet, const Budget& budget, Clock::time_point started);
  ~ProgressDisplay();

  void show(const Progress& progress);
  void problem_done(const Target& target, const ProblemReport& report);
  void warn(const std::string& sentence);

 private:
  void clear_line();
  /// `42 s left, until 14:32`; empty if it is unknown.
  std::string left_text() const;

  bool quiet_;
  bool terminal_;
  bool is_upper_bound_;  // the budget may be left unspent
  bool line_shown_ = false;
  RunProgress run_;
  Clock::time_point last_{};
};

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
  const std::string next_;  // the command that shows the results; empty with --quiet and --json
  ProgressDisplay display_;
};

}  // namespace autotune::cli
