// SPDX-License-Identifier: Apache-2.0
// What is chosen among real configurations against an exhaustive interleaved oracle: gemm, f32,
// 128..1024, a sample of the space of each size.
#include <algorithm>
#include <atomic>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "bench/measure/audit.hpp"
#include "tests/gpu/by_chance.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

/// Of each size; $AUTOTUNE_TEST_SAMPLE, for an audit that takes longer than two minutes.
std::size_t sampled() {
  const char* const text = std::getenv("AUTOTUNE_TEST_SAMPLE");
  return text != nullptr ? static_cast<std::size_t>(std::atol(text)) : 48;
}

constexpr int kRoundsASize = 3;
constexpr int kOracleBlocks = 15;

/// Slower than this many times the fastest: any way of measuring tells such a one apart, and the
/// oracle would take hours over them.
constexpr double kHopeless = 3;

/// The right ones of a sample of the space, loaded; the default first.
class Field {
 public:
  Field(Device& device, const Target& target, const Problem& problem)
      : bench_(device.open(prepared_workload_of(target, problem, device.info()))) {
    const ParameterSpace space = space_of(target, problem, device.info());
    std::vector<std::size_t> sample = {*space.find(valid_default(target, problem, device.info()))};
    std::mt19937_64 random(1);
    std::set<std::size_t> taken(sample.begin(), sample.end());
    while (taken.size() < std::min(sampled(), space.size())) {
      const std::size_t index = random() % space.size();
      if (taken.insert(index).second) sample.push_back(index);
    }
    const std::vector<CompiledKernel> kernels = compiled(device, target, problem, space, sample);
    std::vector<std::unique_ptr<Candidate>> loaded;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      if (kernels[i].outcome != Outcome::ok) continue;
      try {
        const LaunchPlan plan = launch_plan(target, problem, space.at(sample[i]), device.info());
        auto candidate = bench_->load(kernels[i], plan);
        seconds.push_back(candidate->time(1, L2State::hot).seconds);
        loaded.push_back(std::move(candidate));
      } catch (const KernelFailure& failure) {
        // Most are no configurations for this device; a crash is said.
        if (failure.outcome() == Outcome::crash) {
          figure("gemm: " + to_text(space.at(sample[i])), failure.what(), "no crash");
        }
      }
    }
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      if (i > 0 && seconds[i] > kHopeless * std::ranges::min(seconds)) continue;
      if (loaded[i]->verify().outcome != Outcome::ok) continue;
      timers_.push_back(loaded[i].get());
      candidates_.push_back(std::move(loaded[i]));
    }
  }

  const std::vector<Timer*>& timers() const { return timers_; }

 private:
  static std::vector<CompiledKernel> compiled(Device& device, const Target& target,
                                              const Problem& problem, const ParameterSpace& space,
                                              const std::vector<std::size_t>& sample) {
    std::vector<CompiledKernel> kernels(sample.size());
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> threads;
    for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = next++; i < sample.size(); i = next++) {
          kernels[i] =
              device.compile(source_unit(target, problem, space.at(sample[i]), device.info()));
        }
      });
    }
    threads.clear();
    return kernels;
  }

  std::unique_ptr<Workbench> bench_;
  std::vector<std::unique_ptr<Candidate>> candidates_;
  std::vector<Timer*> timers_;
};

using RegretOnGpu = Gpu;

double at_share(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

TEST_F(RegretOnGpu, OfTheChoiceIsBelowOnePercentAndFewOfTheBestAreLost) {
  // In a process of its own, which a configuration that crashes ends instead of this one.
  const auto device =
      make_worker_device("cuda:0", std::make_shared<BuildCache>(folder() / "cache"));
  const Target target = find_target("gemm");
  const Policy policy;
  std::vector<double> regrets;
  int near_best = 0, lost = 0, repeats = 0, repeated = 0;
  for (std::int64_t size = 128; size <= 1024; size += 128) {
    const Problem problem =
        problem_of(target, {{"M", Value(size)}, {"N", Value(size)}, {"K", Value(size)}}, {});
    const Field field(*device, target, problem);
    ASSERT_GT(field.timers().size(), 10U);
    const std::vector<double> truths = interleaved_times(field.timers(), kOracleBlocks, policy, 1);
    double previous = 0;
    for (int round_number = 0; round_number < kRoundsASize; ++round_number) {
      const Round round = judge_and_play_off(field.timers(), policy, round_number);
      const Audit result = audit(round, truths);
      regrets.push_back(result.regret);
      near_best += result.near_best;
      lost += result.near_best_lost;
      EXPECT_GE(result.gain, 1 - std::max(round.noise_floor, 0.002)) << size;
      const double now = truths[round.chosen];
      if (previous > 0) {
        ++repeats;
        repeated += std::abs(now / previous - 1) < 0.01;
      }
      previous = now;
    }
    figure(format("gemm {0}x{0}x{0}: best of {1} configurations", size, truths.size()),
           format("{:.2f} us, regret at most {:.3f} %", 1e6 * std::ranges::min(truths),
                  100 * std::ranges::max(std::span(regrets).last(kRoundsASize))));
  }
  figure("gemm 128..1024: regret of the choice",
         format("median {:.3f} %, 95 % {:.3f} %", 100 * median(regrets),
                100 * at_share(regrets, 0.95)),
         "<= 1 %, <= 3 %");
  figure("gemm 128..1024: lost of those within 1 %", format("{} of {}", lost, near_best), "<= 2 %");
  figure("gemm 128..1024: repeats within 1 %", format("{} of {}", repeated, repeats), ">= 95 %");
  EXPECT_LE(median(regrets), 0.01);
  EXPECT_LE(at_share(regrets, 0.95), 0.03);
  EXPECT_GT(near_best, 0);
  EXPECT_TRUE(testing::may_be_chance(lost, near_best, 0.02)) << lost << " of " << near_best;
  EXPECT_GT(repeats, 0);
  EXPECT_TRUE(testing::may_be_chance(repeats - repeated, repeats, 0.05))
      << repeated << " of " << repeats;
}

}  // namespace
}  // namespace autotune
