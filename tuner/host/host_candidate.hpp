// SPDX-License-Identifier: Apache-2.0
// A loaded configuration, which can be verified and timed by the wall clock.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/host/bound_plan.hpp"
#include "tuner/host/host_buffers.hpp"
#include "tuner/host/host_reference.hpp"

namespace autotune {

class HostCandidate : public Candidate {
 public:
  using Bytes = std::vector<std::byte>;

  /// `buffers` and `expected` (one per input set) and `launcher` must outlive this.
  HostCandidate(const CompiledKernel& kernel, const LaunchPlan& plan,
                std::span<HostBuffers> buffers, std::span<const ReferenceResults> expected,
                Launcher& launcher);

  Verdict verify(int runs, double give_up_seconds) override;
  Verdict recheck() override { return verify_on(plans_.size() - 1, 1); }

  /// Stops after 50 ms, because the mean of a few slow launches is accurate enough. `cold` flushes
  /// the buffers from all caches before each launch, untimed.
  TimedBatch time(int launches, L2State l2) override;

 private:
  Verdict verify_on(std::size_t set, int runs);
  Verdict check_outputs(std::size_t set);
  Verdict check_repeats(std::size_t set, const std::vector<Bytes>& first);
  void run();
  void evict();

  const HostModule module_;
  std::vector<HostBuffer> workspace_;
  std::vector<HostPlan> plans_;  // one per input set
  std::span<HostBuffers> buffers_;
  std::span<const ReferenceResults> expected_;
  Launcher& launcher_;
  bool warm_ = false;
};

}  // namespace autotune
