// SPDX-License-Identifier: Apache-2.0
// The decisions of tuner/measure on a GPU: A/A, detection of 2 %, cost, repeated choices.
#include <chrono>
#include <optional>

#include "bench/measure/audit.hpp"
#include "tests/gpu/by_chance.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/timed_kernels.hpp"

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
      anchor_->rebind(anchor_timer_.get());
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
  const Energy one = small->energy(0.3, L2State::hot);
  const double watts = one.watts;
  figure("power of a board at work", format("{:.4g} W", watts), "20 to 2000 W");
  EXPECT_GT(watts, 20);
  EXPECT_LT(watts, 2000);
  EXPECT_GE(one.seconds, 0.3);
  // The board is not idle between batches for long.
  EXPECT_NEAR(one.joules / seconds / watts, 1, 0.25);
  const Energy again = small->energy(0.3, L2State::hot);
  figure("energy of a call, measured twice", format("{:.3f}", again.joules / one.joules), "10 %");
  EXPECT_NEAR(again.joules / one.joules, 1, 0.1);
  const Energy four = large->energy(0.3, L2State::hot);
  figure("energy of four times the work", format("{:.3f}", four.joules / one.joules), "4 +- 20 %");
  EXPECT_NEAR(four.joules / one.joules, 4, 0.8);
}

}  // namespace
}  // namespace autotune
