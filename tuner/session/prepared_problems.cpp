// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/prepared_problems.hpp"

#include <algorithm>
#include <utility>

#include "tuner/model/cost_model.hpp"

namespace autotune {
namespace {

/// Problems: a large space takes longer to build than a small one to measure.
constexpr std::size_t kAhead = 3;

PreparedProblem prepare(const Target& target, const Problem& problem, const DeviceInfo& device,
                        const Calibration& calibration) {
  ParameterSpace space = space_of(target, problem, device);
  std::vector<double> predicted =
      CostModel(target, problem, space, device, calibration).predict_all();
  return {std::move(space), std::move(predicted)};
}

}  // namespace

PreparedProblem PreparedProblems::take(const Problem& problem, const DeviceInfo& device,
                                       const Calibration& calibration) {
  const auto same = [&](const Problem& other) { return other.values == problem.values; };
  const auto number =
      static_cast<std::size_t>(std::ranges::find_if(problems_, same) - problems_.begin());
  std::future<PreparedProblem> result;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = number; i <= number + kAhead && i < problems_.size(); ++i) {
      if (!started_.insert(i).second) continue;
      waiting_[i] = std::async(std::launch::async, [this, i, &device, calibration] {
        return prepare(target_, problems_[i], device, calibration);
      });
    }
    if (const auto found = waiting_.find(number); found != waiting_.end()) {
      result = std::move(found->second);
      waiting_.erase(found);
    }
  }
  // A second time where a device failed at it.
  return result.valid() ? result.get() : prepare(target_, problem, device, calibration);
}

}  // namespace autotune
