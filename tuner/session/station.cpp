// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/station.hpp"

#include "tuner/core/stopwatch.hpp"
#include "tuner/measure/judge.hpp"

namespace autotune {

Workbench& Station::workbench() {
  if (!workbench_) {
    const Stopwatch watch(phases_.open);
    Workload workload = prepared_workload_of(target_, problem_, device_.info());
    workload.form = policy_.form;
    workbench_ = device_.open(workload);
  }
  return *workbench_;
}

void Station::close() {
  anchor_.reset();
  anchor_candidate_.reset();
  workbench_.reset();
}

Anchor& Station::anchor() {
  if (anchor_) return *anchor_;
  if (const std::optional<Loadable> standard = standard_()) {
    try {
      anchor_candidate_ = workbench().load(*standard->kernel, standard->plan);
      return anchor_.emplace(*anchor_candidate_, policy_);
    } catch (const KernelFailure&) {
      anchor_candidate_.reset();  // a default that fails is a trial like any other
    }
  }
  return anchor_.emplace();
}

void Station::measure(Trial& trial, const Loadable& configuration, double best_seconds) {
  try {
    std::unique_ptr<Candidate> candidate;
    workbench();
    {
      const Stopwatch watch(phases_.verify);
      candidate = workbench().load(*configuration.kernel, configuration.plan);
      const Verdict verdict = candidate->verify();
      trial.outcome = verdict.outcome;
      trial.message = verdict.message;
      if (verdict.outcome != Outcome::ok) return;
      trial.verified = true;
    }
    const Stopwatch watch(phases_.measure);
    const Judgement judgement = judge(*candidate, best_seconds, policy_, anchor());
    trial.outcome = judgement.outcome;
    trial.measurement = judgement.measurement;
    if (judgement.outcome != Outcome::ok) trial.message = name_of(judgement.decision);
  } catch (const KernelFailure& failure) {
    trial.outcome = failure.outcome();
    trial.message = failure.what();
    trial.measurement.reset();
  }
}

}  // namespace autotune
