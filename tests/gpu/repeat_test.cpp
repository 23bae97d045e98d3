// SPDX-License-Identifier: Apache-2.0
// The same thing measured twice by two processes: single kernels, and whole tunes of gemm.
#include <map>
#include <thread>

#include "tests/gpu/by_chance.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/timed_kernels.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/session/tuning_session.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

class RepeatOnGpu : public Gpu {
 protected:
  /// Kernels run in a process of its own, which ends with the object.
  std::unique_ptr<Device> fresh_process() {
    return make_worker_device("cuda:0", std::make_shared<BuildCache>(folder() / "cache"));
  }
};

/// What judge() says of some numbers of rounds, in a process that was just started.
std::vector<double> judged(Device& device, const std::vector<std::int64_t>& rounds) {
  TimedKernels kernels(device);
  const Policy policy;
  const auto standard = kernels.work(2000);
  Anchor anchor(*standard, policy);
  std::vector<double> medians;
  for (const std::int64_t one : rounds) {
    medians.push_back(judge(*kernels.work(one), 0, policy, anchor).measurement.median);
  }
  return medians;
}

TEST_F(RepeatOnGpu, TheSameKernelTakesTheSameTimeInAnotherProcess) {
  const std::vector<std::int64_t> rounds = {400, 1000, 2000, 4000, 10000, 20000};
  constexpr int kProcesses = 21;
  std::map<bool, int> pairs, alike;  // by whether it takes 10 us and more
  std::map<bool, double> worst;
  std::vector<double> previous;
  for (int i = 0; i < kProcesses; ++i) {
    const std::vector<double> now = judged(*fresh_process(), rounds);
    for (std::size_t k = 0; k < previous.size(); ++k) {
      const bool is_long = previous[k] >= 10e-6;
      const double difference = std::abs(now[k] - previous[k]);
      ++pairs[is_long];
      alike[is_long] += difference <= allowed_apart(previous[k]);
      worst[is_long] = std::max(worst[is_long], difference / previous[k]);
    }
    previous = now;
  }
  for (const bool is_long : {false, true}) {
    figure(format("A/A, two processes, {}", is_long ? "10 us and more" : "2 to 10 us"),
           format("{} of {} within, at most {:.2f} % apart", alike[is_long], pairs[is_long],
                  100 * worst[is_long]),
           is_long ? "95 % within 1 %" : "95 % within 2 % or 0.1 us");
    ASSERT_GT(pairs[is_long], 0);
    EXPECT_GE(alike[is_long], 0.95 * pairs[is_long]);
  }
}

/// The times that a tune of gemm ends with, by size; of a sample of the space that the seed fixes.
std::map<std::string, double> tuned(Device& device) {
  const Target target = find_target("gemm");
  TuningRequest request;
  for (std::int64_t size = 128; size <= 1024; size += 128) {
    request.problems.push_back(
        problem_of(target, {{"M", Value(size)}, {"N", Value(size)}, {"K", Value(size)}}, {}));
  }
  request.strategy = "random";
  request.budget = {Budget::Kind::evaluations, 40};
  request.compile_threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  std::map<std::string, double> times;
  for (const ProblemReport& problem : tune(target, device, nullptr, request).problems) {
    if (problem.decision.best)
      times[problem.problem.text()] = problem.decision.best->measurement.median;
    // Never worse than the default, to within what two measurements of it differ by.
    if (problem.decision.best && problem.decision.default_configuration) {
      EXPECT_LE(problem.decision.best->measurement.median,
                problem.decision.default_configuration->measurement.median *
                    (1 + std::max(problem.decision.noise_floor, 0.002)));
    }
  }
  return times;
}

TEST_F(RepeatOnGpu, ASecondTuneEndsWithTheSameTimes) {
  const std::map<std::string, double> first = tuned(*fresh_process());
  const std::map<std::string, double> second = tuned(*fresh_process());
  ASSERT_EQ(first.size(), 8U);
  ASSERT_EQ(second.size(), 8U);
  int alike = 0;
  double worst = 0;
  for (const auto& [problem, seconds] : first) {
    const double apart = std::abs(second.at(problem) - seconds);
    alike += apart <= allowed_apart(seconds);
    worst = std::max(worst, apart / seconds);
    if (apart > allowed_apart(seconds))
      std::printf("%s: %g s, then %g s\n", problem.c_str(), seconds, second.at(problem));
  }
  EXPECT_TRUE(testing::may_be_chance(8 - alike, 8, 0.05)) << alike << " of 8";
  EXPECT_LT(worst, 0.05);
  figure("gemm 128..1024 tuned twice",
         format("{} of 8 within, at most {:.2f} % apart", alike, 100 * worst),
         "1 %; below 10 us 2 % or 0.1 us");
}

}  // namespace
}  // namespace autotune
