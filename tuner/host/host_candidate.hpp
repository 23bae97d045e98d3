// SPDX-License-Identifier: Apache-2.0
// A loaded configuration, which can be verified and timed by the wall clock.
#pragma once

#include "tuner/core/device.hpp"
#include "tuner/host/process_memory.hpp"
#include "tuner/measure/verifier.hpp"

namespace autotune {

class HostCandidate : public Candidate {
 public:
  /// All but the kernel and the plan must outlive it.
  HostCandidate(const CompiledKernel& kernel, const LaunchPlan& plan, Memory& memory,
                ProblemBuffers& buffers, Verifier& verifier, Launcher& launcher);

  Verdict verify(int runs, double give_up_seconds) override {
    return verifier_.verify(calls_, workspace_, runs, give_up_seconds);
  }
  Verdict recheck() override { return verifier_.recheck(timed_call(), workspace_); }

  /// Stops after 50 ms, because the mean of a few slow launches is accurate enough. Inouts get
  /// their contents again before each launch, untimed. `cold` then flushes the buffers from all
  /// caches, untimed too.
  TimedBatch time(int launches, L2State l2) override;

 private:
  Call& timed_call() { return *calls_[index_of(InputSet::uniform)]; }
  /// What precedes each launch, if it is not nothing.
  void restore(L2State l2);

  const HostModule module_;
  ProblemBuffers& buffers_;
  Verifier& verifier_;
  Workspace workspace_;
  CallOfSet calls_;
  bool is_unchecked_ = true;  // no chain of it was checked yet
};

}  // namespace autotune
