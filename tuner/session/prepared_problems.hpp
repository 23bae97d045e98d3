// SPDX-License-Identifier: Apache-2.0
// Spaces and predictions of a run's problems, prepared in the background.
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/calibration.hpp"

namespace autotune {

/// A problem's space and its predicted times. Neither needs a device.
struct PreparedProblem {
  ParameterSpace space;
  std::vector<double> predicted;
};

/// Thread-safe. The destructor waits for running work.
class PreparedProblems {
 public:
  /// Both must outlive it.
  PreparedProblems(const Target& target, std::span<const Problem> problems)
      : target_(target), problems_(problems) {}

  /// Returns a problem, prepared in the background or now. Then prepares the next few for the same
  /// device, which must outlive this. Throws what the preparation threw.
  PreparedProblem take(const Problem& problem, const DeviceInfo& device,
                       const Calibration& calibration);

 private:
  const Target& target_;
  const std::span<const Problem> problems_;
  std::mutex mutex_;
  std::set<std::size_t> started_;
  std::map<std::size_t, std::future<PreparedProblem>> waiting_;
};

}  // namespace autotune
