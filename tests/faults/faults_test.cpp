// SPDX-License-Identifier: Apache-2.0
// Every way in which a configuration can fail, on the host device in a worker: each has its
// outcome, and the one after it runs as if nothing had been.
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

const Target& faults() {
  static const Target kTarget =
      load_manifest(AUTOTUNE_SOURCE_DIR "/tests/faults/faults.target.json");
  return kTarget;
}

std::unique_ptr<Device> host_in_a_worker() {
  return make_worker_device("host",
                            std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"),
                            {.least_seconds = 0.5, .most_seconds = 3});
}

class Faults : public testing::Test {
 protected:
  Faults()
      : device_(host_in_a_worker()),
        problem_(problem_of(faults(), {{"N", 1000}}, {})),
        space_(space_of(faults(), problem_, device_->info())),
        bench_(device_->open(workload_of(faults(), problem_, device_->info()))) {}

  /// How a configuration ends: what a session makes a row of.
  Outcome outcome_of(std::size_t index) {
    const Configuration configuration = space_.at(index);
    const CompiledKernel kernel =
        device_->compile(source_unit(faults(), problem_, configuration, device_->info()));
    if (kernel.outcome != Outcome::ok) return kernel.outcome;
    try {
      const auto plan = launch_plan(faults(), problem_, configuration, device_->info());
      const auto candidate = bench_->load(kernel, plan);
      const Verdict verdict = candidate->verify();
      if (verdict.outcome == Outcome::ok) candidate->time(1, L2State::hot);
      return verdict.outcome;
    } catch (const KernelFailure& failure) {
      return failure.outcome();
    }
  }

  std::string fault_of(std::size_t index) {
    const std::string text = to_text(space_.at(index));  // `FAULT=none VARIANT=0`
    return text.substr(6, text.find(' ') - 6);
  }

  std::unique_ptr<Device> device_;
  Problem problem_;
  ParameterSpace space_;
  std::unique_ptr<Workbench> bench_;
};

TEST_F(Faults, EachHasItsOutcomeAndNoneTouchesTheNext) {
  const std::map<std::string, std::vector<Outcome>> expected = {
      {"none", {Outcome::ok}},
      {"infinite_loop", {Outcome::timeout}},
      {"illegal_address", {Outcome::crash}},
      {"misaligned", {Outcome::crash, Outcome::wrong, Outcome::ok}},  // x86 may not mind
      {"nan_output", {Outcome::wrong}},
      {"writes_nothing", {Outcome::wrong}},
      {"past_the_end", {Outcome::wrong}},
      {"race", {Outcome::wrong, Outcome::nondeterministic}},
      {"too_much_shared", {Outcome::invalid}},
      {"compiler_error", {Outcome::compile_error}}};
  EXPECT_EQ(space_.size(), expected.size() + 2);
  for (std::size_t i = 0; i < space_.size(); ++i) {
    const Outcome outcome = outcome_of(i);
    const std::vector<Outcome>& allowed = expected.at(fault_of(i));
    EXPECT_NE(std::find(allowed.begin(), allowed.end(), outcome), allowed.end())
        << fault_of(i) << " is " << name_of(outcome);
    EXPECT_EQ(outcome_of(0), Outcome::ok) << "after " << fault_of(i);
  }
}

TEST_F(Faults, ACrashCostsLessThanASecondAndAHalf) {
  std::size_t crash = 0;
  while (fault_of(crash) != "illegal_address") ++crash;
  outcome_of(0);
  outcome_of(crash);  // compiled from here on
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(outcome_of(crash), Outcome::crash);
  EXPECT_EQ(outcome_of(0), Outcome::ok);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(1500));
}

}  // namespace
}  // namespace autotune
