// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_run.hpp"

#include "tuner/core/deadline.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/text/strings.hpp"

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

ProblemRun::ProblemRun(const RunContext& context, Problem problem, ParameterSpace space,
                       std::vector<double> predicted, bool retune)
    : context_(context),
      problem_(std::move(problem)),
      space_(std::move(space)),
      program_(context.target, problem_, context.device.info()),
      predicted_(std::move(predicted)),
      default_index_(autotune::default_index(context.target, program_.defaults(), space_)),
      ledger_(space_, default_index_, predicted_, context.recorder, retune),
      requests_(context.pool),
      scheduler_(program_, space_, context.device, requests_),
      bench_(context.device, context.target, problem_, context.policy,
             [this] { return compile_default(); }),
      baselines_(context.baselines) {}

std::optional<std::size_t> ProblemRun::given() const {
  if (const auto best = recorder().earlier_best()) {
    return space_.find(parse_named_values(best->configuration));
  }
  if (!context_.answer_today || !device().runs()) return std::nullopt;
  return space_.find(parse_named_values(context_.answer_today(problem_)));
}

LaunchPlan ProblemRun::plan(std::size_t index) const { return program_.plan(space_.levels(index)); }

std::unique_ptr<Candidate> ProblemRun::load(std::size_t index) {
  const auto kernel = scheduler_.compile(index).get();
  if (kernel->outcome != Outcome::ok) {
    throw KernelFailure(kernel->outcome, first_error(kernel->log));
  }
  return bench_.workbench().load(*kernel, plan(index));
}

void ProblemRun::find_baselines() {
  if (baselines_.are_found()) return;
  const Device::Turn turn = context_.device.take_turn();
  Workbench& workbench = bench_.workbench();
  const Stopwatch watch(bench_.phases().decide);
  baselines_.find(workbench, context_.warn);
}

/// nullopt if it fails. Throws SearchOver.
std::optional<Loadable> ProblemRun::compile_default() {
  const auto trial = ledger_.trials().find(default_index_);
  if (trial != ledger_.trials().end() && trial->second.outcome != Outcome::ok) return std::nullopt;
  const Stopwatch watch(bench_.phases().compile_wait);
  const auto kernel =
      wait_in_search(scheduler_.compile(default_index_), [this] { return end_.ask(); });
  if (kernel->outcome != Outcome::ok) return std::nullopt;
  return default_loadable_ = Loadable{kernel, plan(default_index_)};
}

}  // namespace autotune
