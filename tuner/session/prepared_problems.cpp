// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/prepared_problems.hpp"

#include "tuner/model/cost_model.hpp"

namespace autotune {
namespace {

std::future<PreparedProblem> taken_from(std::map<std::size_t, std::future<PreparedProblem>>& all,
                                        std::size_t number) {
  const auto found = all.find(number);
  if (found == all.end()) return {};
  auto result = std::move(found->second);
  all.erase(found);
  return result;
}

}  // namespace

std::shared_future<Calibration> PreparedProblems::known(const Calibration& calibration) {
  std::promise<Calibration> promise;
  promise.set_value(calibration);
  return promise.get_future().share();
}

void PreparedProblems::begin(std::span<const std::size_t> numbers) {
  const std::lock_guard lock(mutex_);
  for (const std::size_t number : numbers) make_ahead(number);
}

PreparedProblem PreparedProblems::take(std::size_t number, std::span<const std::size_t> ahead) {
  std::future<PreparedProblem> problem;
  {
    const std::lock_guard lock(mutex_);
    problem = taken_from(corrected_, number);
    if (!problem.valid()) make_ahead(number);
    for (const std::size_t next : ahead) make_ahead(next);
  }
  return problem.valid() ? problem.get() : corrected(number, history());
}

/// With the lock held.
void PreparedProblems::make_ahead(std::size_t number) {
  if (!started_.insert(number).second) return;
  made_[number] = std::async(std::launch::async, [this, number] { return make(number); });
}

void PreparedProblems::correct_ahead(std::size_t number) {
  const std::lock_guard lock(mutex_);
  if (corrected_.contains(number)) return;
  started_.insert(number);
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
    result = taken_from(made_, number);
  }
  // A second time where a device failed at it.
  return result.valid() ? result.get() : make(number);
}

PreparedProblem PreparedProblems::make(std::size_t number) const {
  const Problem& problem = problems_[number];
  ParameterSpace space = space_of(target_, problem, device_);
  std::vector<double> predicted =
      CostModel(target_, problem, space, device_, calibration_.get()).predict_all();
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
