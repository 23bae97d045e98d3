// SPDX-License-Identifier: Apache-2.0
// How good the best configuration of one problem is for another.
#pragma once

#include <string>
#include <vector>

#include "tuner/report/report.hpp"

namespace autotune::report {

/// The best configurations of a target's problems, on each of these problems.
struct Portability {
  std::string target;
  std::vector<std::size_t> problems;  // places in the report; at least two
  std::vector<std::string> configurations;
  /// A row a configuration, a column a problem: the best time over its time. 0: not timed there.
  std::vector<std::vector<double>> share;
  std::vector<std::size_t> cover;  // fewest configurations within kCoverMargin of the best
  std::size_t covered = 0;         // problems that these serve
};

inline constexpr double kCoverMargin = 0.05;

/// One for each target with several problems that have trials.
std::vector<Portability> portability_of(const Report& report);

}  // namespace autotune::report
