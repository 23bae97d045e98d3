// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: one line that is rewritten on a terminal, else one line for each problem.
#pragma once

#include <chrono>
#include <string>

#include "tuner/session/tuning_session.hpp"

namespace autotune::cli {

class ProgressDisplay {
 public:
  /// `quiet`: warnings only.
  explicit ProgressDisplay(bool quiet);
  ~ProgressDisplay();

  void show(const Progress& progress);
  void problem_done(const Target& target, const ProblemReport& report);
  void warn(const std::string& sentence);

 private:
  void clear_line();

  bool quiet_;
  bool terminal_;
  bool line_shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace autotune::cli
