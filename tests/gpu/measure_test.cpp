// SPDX-License-Identifier: Apache-2.0
// The decisions of tuner/measure on a GPU: A/A, detection of 2 %, cost, repeated choices.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <thread>

#include "bench/measure/audit.hpp"
#include "tests/gpu/by_chance.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/timed_kernels.hpp"
#include "tuner/core/target.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

class MeasureOnGpu : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    kernels_ = std::make_unique<TimedKernels>(device());
    anchor_timer_ = kernels_->work(2000);
    anchor_ = Anchor(*anchor_timer_, policy_);
    const double more = judged_median(*kernels_->work(12000));
    seconds_a_round_ = (more - anchor_->seconds()) / 10000;
  }
  /// Rounds of work() that take about so long; what a launch costs counts too.
  std::int64_t rounds_for(double seconds) {
    return 2000 + std::llround((seconds - anchor_->seconds()) / seconds_a_round_);
  }
  double judged_median(Timer& timer) {
    return judge(timer, 0, policy_, *anchor_).measurement.median;
  }

  Policy policy_;
  std::unique_ptr<TimedKernels> kernels_;
  std::unique_ptr<Candidate> anchor_timer_;
  std::optional<Anchor> anchor_;
  double seconds_a_round_ = 0;
};

TEST_F(MeasureOnGpu, TheSameKernelTakesTheSameTimeInNewBuffers) {
  int pairs = 0, apart = 0;
  for (const double seconds : {5e-6, 10e-6, 50e-6}) {
    std::vector<double> differences;
    double previous = 0;
    for (int i = 0; i < 21; ++i) {
      anchor_timer_.reset();
      kernels_->reopen();
      anchor_timer_ = kernels_->work(2000);
      anchor_.emplace(*anchor_timer_, policy_);
      const auto timer = kernels_->work(rounds_for(seconds));
      const double now = judged_median(*timer);
      if (i > 0) {
        differences.push_back(std::abs(now - previous));
        ++pairs;
        apart += differences.back() > allowed_apart(previous);
      }
      previous = now;
    }
    std::ranges::sort(differences);
    figure(format("A/A of judge() at {:.1f} us, new buffers, median and 95 %", previous * 1e6),
           format("{:.3f} %, {:.3f} %", 100 * differences[10] / previous,
                  100 * differences[18] / previous));
  }
  figure("A/A of judge(), new buffers", format("{} of {} within", pairs - apart, pairs),
         "95 % within 1 %, below 10 us 2 % or 0.1 us");
  EXPECT_TRUE(testing::may_be_chance(apart, pairs, 0.05)) << apart << " of " << pairs;
}

TEST_F(MeasureOnGpu, TwoPercentMoreWorkAtTenMicrosecondsIsRankedRight) {
  const std::int64_t rounds = rounds_for(10e-6);
  int right = 0;
  double floors = 0;
  constexpr int kRuns = 40;
  for (int run = 0; run < kRuns; ++run) {
    const auto slow =
        kernels_->work(std::llround(static_cast<double>(rounds) + 0.2e-6 / seconds_a_round_));
    const auto fast = kernels_->work(rounds);
    const PlayoffResult result = play_off(
        {{slow.get(), 10.2e-6, true, false}, {fast.get(), 10e-6, false, false}}, policy_, run);
    right += result.winner == 1;
    floors += result.noise_floor / kRuns;
  }
  figure("2 % slower at 10 us, ranked right by play_off()",
         format("{} of {}, noise floor {:.3f} %", right, kRuns, 100 * floors), ">= 95 %");
  EXPECT_GE(right, kRuns * 95 / 100);
}

TEST_F(MeasureOnGpu, DecidingATenMicrosecondKernelTakesLessThanEightMilliseconds) {
  std::vector<double> wall, device;
  const double best = judged_median(*kernels_->work(rounds_for(10e-6)));
  for (int i = 0; i < 100; ++i) {
    const auto timer = kernels_->work(rounds_for(10e-6 * (1 + 0.01 * i)));
    const auto start = std::chrono::steady_clock::now();
    device.push_back(judge(*timer, best, policy_, *anchor_).device_seconds);
    wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  figure("judge() of kernels of 10..20 us, median",
         format("{:.2f} ms, {:.2f} ms of it timed", 1e3 * median(wall), 1e3 * median(device)),
         "<= 8 ms");
  EXPECT_LT(median(wall), 8e-3);
}

TEST_F(MeasureOnGpu, TwoTunesEndWithinOnePercentAndWithinOneOfTheOracle) {
  std::vector<std::unique_ptr<Candidate>> candidates;
  std::vector<Timer*> timers;
  const std::vector<std::int64_t> percents = {140, 111, 100, 235, 103, 101, 180, 102, 160, 106};
  for (const std::int64_t percent : percents) {
    candidates.push_back(kernels_->work(rounds_for(10e-8 * static_cast<double>(percent))));
    timers.push_back(candidates.back().get());
  }
  const std::vector<double> truths = interleaved_times(timers, 40, policy_, 1);
  std::vector<double> chosen;
  int near_best = 0, lost = 0, far = 0;
  for (int run = 0; run < 20; ++run) {
    const Round round = judge_and_play_off(timers, policy_, run);
    const Audit result = audit(round, truths);
    far += result.regret >= 0.01;
    near_best += result.near_best;
    lost += result.near_best_lost;
    chosen.push_back(truths[round.chosen]);
  }
  figure("20 tunes of 10 kernels: chosen times, lost",
         format("within {:.2f} %, {} of {}",
                100 * (std::ranges::max(chosen) / std::ranges::min(chosen) - 1), lost, near_best),
         "within 1 %, <= 2 %");
  EXPECT_TRUE(testing::may_be_chance(lost, near_best, 0.02)) << lost << " of " << near_best;
  EXPECT_TRUE(testing::may_be_chance(far, 20, 0.02)) << far << " of 20 lose 1 %";
}

// The energy of a call on a GPU whose board has a counter.

class EnergyOnGpu : public Gpu {};

TEST_F(EnergyOnGpu, IsThatOfABoardAtWork) {
  if (const std::string why = device().no_energy(); !why.empty()) GTEST_SKIP() << why;
  TimedKernels kernels(device());
  const auto small = kernels.work(20000), large = kernels.work(80000);
  small->energy(0.3, L2State::hot);  // a board that begins to work has other clocks
  const double seconds = small->time(8, L2State::hot).seconds;
  // A busy host only adds to the time and the energy of a call.
  std::array<Energy, 3> three;
  for (Energy& each : three) each = small->energy(0.3, L2State::hot);
  std::ranges::sort(three, {}, &Energy::joules);
  const Energy &one = three[0], &again = three[1];
  const double watts = one.watts;
  figure("power of a board at work", format("{:.4g} W", watts), "20 to 2000 W");
  EXPECT_GT(watts, 20);
  EXPECT_LT(watts, 2000);
  EXPECT_GE(one.seconds, 0.3);
  // The board is not idle between batches for long.
  EXPECT_NEAR(one.joules / seconds / watts, 1, 0.25);
  figure("energy of a call, measured twice", format("{:.3f}", again.joules / one.joules), "10 %");
  EXPECT_NEAR(again.joules / one.joules, 1, 0.1);
  const Energy four = large->energy(0.3, L2State::hot);
  figure("energy of four times the work", format("{:.3f}", four.joules / one.joules), "4 +- 20 %");
  EXPECT_NEAR(four.joules / one.joules, 4, 0.8);
}

// What is chosen among real configurations against an exhaustive interleaved oracle: gemm, f32,
// 128..1024, a sample of the space of each size.

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
    on_all_cores(sample.size(), [&](std::size_t i) {
      kernels[i] = device.compile(source_unit(target, problem, space.at(sample[i]), device.info()));
    });
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
