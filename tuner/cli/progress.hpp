// SPDX-License-Identifier: Apache-2.0
// Progress on stderr: on a terminal one line that is rewritten, else one line for each problem.
#pragma once

#include <chrono>
#include <string>

#include "tuner/session/run_progress.hpp"
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

}  // namespace autotune::cli
