// SPDX-License-Identifier: Apache-2.0
// Reads what a report shows from the database, once or again and again.
#pragma once

#include <set>
#include <string>

#include "tuner/cli/answer_judge.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/cli/plugins.hpp"
#include "tuner/report/report.hpp"

namespace autotune::cli {

class ReportSource {
 public:
  /// Throws UsageError where --size stands without --target. `arguments` must outlive this.
  explicit ReportSource(const Arguments& arguments);

  /// Opens the database and reads the problems of --target, --size, --device and --set. Throws
  /// Error or StoreError. Warns of rows that cannot be used, once of each.
  report::Report read();

 private:
  void warn_of_new(const std::set<std::string>& left_out);

  const Arguments& arguments_;
  Plugins plugins_;
  AnswerJudge judge_;
  std::set<std::string> told_;
};

}  // namespace autotune::cli
