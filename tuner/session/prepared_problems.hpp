// SPDX-License-Identifier: Apache-2.0
// Spaces and predictions of a run's problems, prepared in the background.
#pragma once

#include <future>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/search/transfer.hpp"

namespace autotune {

/// The parts of a problem that are made without a device.
struct PreparedProblem {
  ParameterSpace space;
  std::vector<double> predicted;  // by the cost model
  std::vector<double> corrected;  // and corrected by what was measured at other problems
};

/// Thread-safe. The destructor waits for running work.
class PreparedProblems {
 public:
  /// `calibration` is waited for once a space is built. All else must outlive it.
  PreparedProblems(const Target& target, std::span<const Problem> problems,
                   const DeviceInfo& device, std::shared_future<Calibration> calibration)
      : target_(target),
        problems_(problems),
        device_(device),
        calibration_(std::move(calibration)) {}
  PreparedProblems(const Target& target, std::span<const Problem> problems,
                   const DeviceInfo& device, const Calibration& calibration)
      : PreparedProblems(target, problems, device, known(calibration)) {}

  /// Prepares these in the background.
  void begin(std::span<const std::size_t> numbers);
  /// Returns a problem, prepared in the background or now. Prepares those that are `ahead`. Throws
  /// what the preparation threw.
  PreparedProblem take(std::size_t number, std::span<const std::size_t> ahead = {});
  /// Corrects the predictions of a problem in the background, because it is taken soon.
  void correct_ahead(std::size_t number);
  /// Corrects the problems that follow by what was measured at another.
  void remember(std::vector<PastTrial> trials);

 private:
  static std::shared_future<Calibration> known(const Calibration& calibration);
  PreparedProblem make(std::size_t number) const;
  PreparedProblem made(std::size_t number);
  void make_ahead(std::size_t number);
  PreparedProblem corrected(std::size_t number, const std::vector<PastTrial>& history);
  std::vector<PastTrial> history();

  const Target& target_;
  const std::span<const Problem> problems_;
  const DeviceInfo& device_;
  const std::shared_future<Calibration> calibration_;
  std::mutex mutex_;
  std::vector<PastTrial> history_;
  std::set<std::size_t> started_;
  std::map<std::size_t, std::future<PreparedProblem>> made_, corrected_;
};

}  // namespace autotune
