// SPDX-License-Identifier: Apache-2.0
// Every way in which a configuration can fail, on a worker's device.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/source_folder.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {

/// The target tests/faults/faults.target.toml on one device.
class FaultsCase {
 public:
  explicit FaultsCase(const std::string& device)
      : target_(load_manifest(source_folder() / "tests/faults/faults.target.toml")),
        device_(make_worker_device(device,
                                   std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"),
                                   {.least_seconds = 0.5, .most_seconds = 3})),
        problem_(problem_of(target_, {{"N", 1000}}, {})),
        space_(space_of(target_, problem_, device_->info())),
        bench_(device_->open(workload_of(target_, problem_, device_->info()))) {}

  std::size_t size() const { return space_.size(); }

  /// The outcome of a configuration, as a session stores it.
  Outcome outcome_of(std::size_t index) {
    const Configuration configuration = space_.at(index);
    const CompiledKernel kernel =
        device_->compile(source_unit(target_, problem_, configuration, device_->info()));
    if (kernel.outcome != Outcome::ok) return kernel.outcome;
    try {
      const auto plan = launch_plan(target_, problem_, configuration, device_->info());
      const auto candidate = bench_->load(kernel, plan);
      const Verdict verdict = candidate->verify(2);
      if (verdict.outcome == Outcome::ok) candidate->time(8, L2State::hot);
      return verdict.outcome;
    } catch (const KernelFailure& failure) {
      return failure.outcome();
    }
  }

  std::string fault_of(std::size_t index) const {
    const std::string text = to_text(space_.at(index));  // `FAULT=none VARIANT=0`
    return text.substr(6, text.find(' ') - 6);
  }

  std::size_t index_of(const std::string& fault) const {
    for (std::size_t i = 0; i < size(); ++i) {
      if (fault_of(i) == fault) return i;
    }
    throw std::out_of_range(fault);
  }

 private:
  const Target target_;
  const std::unique_ptr<Device> device_;
  const Problem problem_;
  const ParameterSpace space_;
  const std::unique_ptr<Workbench> bench_;
};

/// Expects that each fault has its outcome, and that the next configuration runs normally.
inline void expect_outcomes(FaultsCase& faults, const std::vector<Outcome>& misaligned) {
  const std::map<std::string, std::vector<Outcome>> expected{
      {"none", {Outcome::ok}},
      {"infinite_loop", {Outcome::timeout}},
      {"illegal_address", {Outcome::crash}},
      {"misaligned", misaligned},
      {"nan_output", {Outcome::wrong}},
      {"writes_nothing", {Outcome::wrong}},
      {"past_the_end", {Outcome::wrong}},
      {"race", {Outcome::wrong, Outcome::nondeterministic}},
      {"too_much_shared", {Outcome::invalid}},
      {"compiler_error", {Outcome::compile_error}}};
  const std::size_t none = faults.index_of("none");
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const std::string fault = faults.fault_of(i);
    const std::vector<Outcome>& allowed = expected.at(fault);
    const Outcome outcome = faults.outcome_of(i);
    EXPECT_TRUE(std::ranges::find(allowed, outcome) != allowed.end())
        << fault << " is " << name_of(outcome);
    EXPECT_EQ(name_of(faults.outcome_of(none)), "ok") << "after " << fault;
  }
}

/// Expects that a crash and the run after it, in a new worker, take at most 1.5 s.
inline void expect_quick_restart(FaultsCase& faults) {
  const std::size_t crash = faults.index_of("illegal_address"), none = faults.index_of("none");
  faults.outcome_of(none);
  faults.outcome_of(crash);  // now compiled
  faults.outcome_of(none);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(name_of(faults.outcome_of(crash)), "crash");
  EXPECT_EQ(name_of(faults.outcome_of(none)), "ok");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 1.5);
  std::printf("figure | a crash and the next start | %.2f s | <= 1.5 s\n", seconds.count());
}

}  // namespace autotune
