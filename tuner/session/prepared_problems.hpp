// SPDX-License-Identifier: Apache-2.0
// Spaces and predictions of a run's problems, made ahead of the devices.
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

/// A problem's space and what the model says of it: all that needs no device.
struct PreparedProblem {
  ParameterSpace space;
  std::vector<double> predicted;
};

/// Any number of threads at a time. Its end waits for what is being made.
class PreparedProblems {
 public:
  /// Both outlive it.
  PreparedProblems(const Target& target, std::span<const Problem> problems)
      : target_(target), problems_(problems) {}

  /// One of the problems, made since another was asked for, or now; starts on the few after it, for
  /// the same device, which outlives this. Throws what making it threw.
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
