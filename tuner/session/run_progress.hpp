// SPDX-License-Identifier: Apache-2.0
// How far a run is and when it will end, from the progress of its problems.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// The best of one problem, and how it got better.
struct BestSoFar {
  double seconds = 0;
  double first_seconds = 0;  // of the first best
  std::size_t found_at = 0;  // evaluations
};

/// Times are seconds of any steady clock. Evaluations that an earlier run has stored are not
/// counted as progress of this one.
class RunProgress {
 public:
  /// `end`: of a budget of time.
  explicit RunProgress(std::optional<double> end = {}) : end_(end) {}

  void note(const Progress& progress, double now);
  void note_end_of(const std::string& problem_text, double now);

  /// Until all searches have ended; nullopt before anything was done and after the last one.
  std::optional<double> seconds_left(double now) const;
  /// nullopt before the first correct configuration.
  std::optional<BestSoFar> best_of(const std::string& problem_text) const;

 private:
  void set_share(const std::string& problem_text, double share, double now);
  double share_done() const;

  std::optional<double> end_;
  std::size_t problems_ = 1;
  std::map<std::string, double> shares_;  // of each problem's evaluations
  std::map<std::string, BestSoFar> best_;
  double first_share_ = 0, first_time_ = 0;  // of the first note
};

}  // namespace autotune
