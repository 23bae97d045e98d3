// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/bench.hpp"

#include "tuner/core/stopwatch.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

void note(Trial& trial, const Judgement& judgement) {
  trial.outcome = judgement.outcome;
  trial.measurement = judgement.measurement;
  if (judgement.outcome != Outcome::ok) trial.message = name_of(judgement.decision);
}

void recheck(Trial& trial, Candidate& candidate) {
  const Verdict verdict = candidate.recheck();
  if (verdict.outcome == Outcome::ok) return;
  trial.outcome = verdict.outcome;
  trial.message = format("after it was timed: {}", verdict.message);
  trial.measurement.reset();
  trial.verified = false;
}

}  // namespace

Workbench& Bench::workbench() {
  if (!workbench_) {
    const Device::Turn turn = device_.take_turn();
    const Stopwatch watch(phases_.open);
    Workload workload = prepared_workload_of(target_, problem_, device_.info());
    workload.form = policy_.form;
    workbench_ = device_.open(workload);
  }
  return *workbench_;
}

void Bench::close() {
  anchor_.reset();
  anchor_timer_.reset();
  anchor_candidate_.reset();
  workbench_.reset();
}

Anchor& Bench::anchor() {
  if (anchor_) return *anchor_;
  if (const std::optional<Loadable> loadable = anchor_source_()) {
    try {
      anchor_candidate_ = workbench().load(*loadable->kernel, loadable->plan);
      anchor_timer_.emplace(*anchor_candidate_, search_context(policy_));
      return anchor_.emplace(*anchor_timer_, policy_);
    } catch (const KernelFailure&) {
      anchor_candidate_.reset();  // a default that fails is a trial like any other
    }
  }
  return anchor_.emplace();
}

void Bench::measure(Trial& trial, const Loadable& configuration, double best_seconds) {
  ++measured_;
  const Device::Turn turn = device_.take_turn();
  try {
    std::unique_ptr<Candidate> candidate;
    Verdict verdict;
    workbench();
    {
      const Stopwatch watch(phases_.verify);
      candidate = workbench().load(*configuration.kernel, configuration.plan);
      verdict = candidate->verify(1, give_up_seconds(best_seconds, policy_));
      trial.outcome = verdict.outcome;
      trial.message = verdict.message;
      trial.verified = verdict.outcome == Outcome::ok;
    }
    if (verdict.outcome == Outcome::pruned) {
      note(trial, given_up(verdict.seconds, policy_));
    } else if (verdict.outcome == Outcome::ok) {
      {
        const Stopwatch watch(phases_.measure);
        InContext timer(*candidate, search_context(policy_));
        note(trial, judge(timer, best_seconds, policy_, anchor(), verdict.seconds));
      }
      const Stopwatch watch(phases_.verify);
      if (trial.outcome == Outcome::ok) recheck(trial, *candidate);
    }
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
    trial.measurement.reset();
  }
}

}  // namespace autotune
