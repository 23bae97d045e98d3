// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/prepared_problems.hpp"

#include <utility>

#include "tuner/model/cost_model.hpp"

namespace autotune {
namespace {

/// Problems: a large space takes longer to build than a small one to measure.
constexpr std::size_t kAhead = 3;

std::future<PreparedProblem> taken_from(std::map<std::size_t, std::future<PreparedProblem>>& all,
                                        std::size_t number) {
  const auto found = all.find(number);
  if (found == all.end()) return {};
  auto result = std::move(found->second);
  all.erase(found);
  return result;
}

}  // namespace

PreparedProblem PreparedProblems::take(std::size_t number) {
  std::future<PreparedProblem> ahead;
  {
    const std::lock_guard lock(mutex_);
    ahead = taken_from(corrected_, number);
  }
  return ahead.valid() ? ahead.get() : corrected(number, history());
}

void PreparedProblems::correct_ahead(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (corrected_.contains(number)) return;
  corrected_[number] = std::async(std::launch::async, [this, number, history = history_] {
    return corrected(number, history);
  });
}

PreparedProblem PreparedProblems::corrected(std::size_t number,
                                            const std::vector<PastTrial>& history) {
  PreparedProblem problem = made(number);
  problem.corrected =
      corrected_predictions(problem.space, problems_[number].values, problem.predicted, history);
  return problem;
}

PreparedProblem PreparedProblems::made(std::size_t number) {
  std::future<PreparedProblem> result;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = number; i <= number + kAhead && i < problems_.size(); ++i) {
      if (!started_.insert(i).second) continue;
      made_[i] = std::async(std::launch::async, [this, i] { return make(i); });
    }
    result = taken_from(made_, number);
  }
  // A second time where a device failed at it.
  return result.valid() ? result.get() : make(number);
}

PreparedProblem PreparedProblems::make(std::size_t number) const {
  const Problem& problem = problems_[number];
  ParameterSpace space = space_of(target_, problem, device_);
  std::vector<double> predicted =
      CostModel(target_, problem, space, device_, calibration_).predict_all();
  return {std::move(space), std::move(predicted), {}};
}

void PreparedProblems::remember(std::vector<PastTrial> trials) {
  const std::lock_guard lock(mutex_);
  history_.insert(history_.end(), trials.begin(), trials.end());
}

std::vector<PastTrial> PreparedProblems::history() {
  const std::lock_guard lock(mutex_);
  return history_;
}

}  // namespace autotune
