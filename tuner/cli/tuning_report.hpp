// SPDX-License-Identifier: Apache-2.0
// The request of `tune`, its output while it runs, and the result as text and as JSON; counters.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/report/counted.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune::cli {

/// Configurations that this run tried.
int tried(const ProblemReport& report);

/// Two lines for each problem: its figures, then the configuration.
std::string text_of(const Target& target, const DeviceInfo& device, const ProblemReport& report);

/// The document of `--json`; docs/cli.md describes it.
Json json_of(const Target& target, const DeviceInfo& device, const std::string& database,
             const TuningReport& report);

/// A stored baseline, which must have a time: `8.900 us [8.890, 8.910], 0.971x the best, faster:
/// cublas cublasSgemm`.
std::string baseline_text(const db::BestRow& best);
/// null without a time.
Json baseline_json(const db::BaselineFigures& baseline);

/// `{"BM": 64, "PREFETCH": "register"}`.
Json json_of(const NamedValues& values);

/// null if there is none.
template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// `--counters`: counts finalists with hardware counters, and shows the figures.

/// `--counters`.
extern const Option kCountersOption;

/// Counts the finalists of these results on a GPU of this machine, in a worker, and stores the
/// figures. `device` is the text of --device. Throws Error if nothing can be counted.
void count_entries(const std::vector<db::TunedEntry>& entries, const Target& target,
                   Plugins& plugins, db::TunedStore& store, const std::string& device,
                   const std::function<void(const std::string&)>& warn);

/// Lines for people, aligned with those of explain. Empty if nothing was counted.
std::string counters_text(const std::string& figures, const report::Expected& expected);

/// `{"instructions": 4096, …}`.
Json counters_json(const std::string& figures);

/// The figures of a configuration among the rows; empty if it was not counted.
std::string figures_of(const std::vector<db::CounterRow>& rows, const std::string& configuration);

// The output of `tune`, and its progress on stderr.

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

// The request of `tune`, as its arguments describe it, for any devices; sources that a manifest
// generates.

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
