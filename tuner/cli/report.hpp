// SPDX-License-Identifier: Apache-2.0
// Reads the content of a report from the database, once or repeatedly.
#pragma once

#include <set>
#include <string>

#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/devices.hpp"
#include "tuner/report/report.hpp"

namespace autotune::cli {

class ReportSource {
 public:
  /// Throws UsageError for --size without --target. `arguments` must outlive this. With
  /// `or_shipped`, read() takes the results that ship with autotune while the user has no database.
  explicit ReportSource(const Arguments& arguments, bool or_shipped = false);

  /// Opens the database and reads the problems of --target, --size, --device, --set and --context.
  /// A result that programs do not get is no answer, so only its search is shown. Throws Error or
  /// StoreError. Warns once of each row that cannot be used.
  report::Report read();

 private:
  bool is_answered(const db::TunedEntry& entry, ProgramAnswers& programs);
  db::TunedStore store();
  void warn_of_new(const std::set<std::string>& left_out);

  const Arguments& arguments_;
  const bool or_shipped_;
  Plugins plugins_;
  AnswerJudge judge_;
  std::set<std::string> told_;
};

// Runs autotune watch. A web server needs libraries that the tool does without, so a program of its
// own has it, autotune-watch, and the tool becomes that.

/// autotune-watch has that of watch_here.cpp, all others that of watch_elsewhere.cpp.
int run_watch(const Arguments& arguments);

}  // namespace autotune::cli
