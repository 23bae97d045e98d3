// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/reloading.hpp"

#include <utility>

namespace autotune {
namespace {

class FailedCandidate final : public Candidate {
 public:
  explicit FailedCandidate(KernelFailure failure) : failure_(std::move(failure)) {}
  Verdict verify(int, double) override { throw failure_; }
  TimedBatch time(int, L2State) override { throw failure_; }
  Energy energy(double, L2State) override { throw failure_; }

 private:
  KernelFailure failure_;
};

}  // namespace

std::unique_ptr<Candidate> reloaded(const std::function<std::unique_ptr<Candidate>()>& load) try {
  return load();
} catch (const KernelFailure& failure) {
  return std::make_unique<FailedCandidate>(failure);
}

}  // namespace autotune
