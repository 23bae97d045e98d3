// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/problem_run.hpp"

#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {

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
