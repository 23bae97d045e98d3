// SPDX-License-Identifier: Apache-2.0
// What answers at sizes that were not tuned, judged by the shipped times of an H200 and an H100:
// each problem counts as not tuned in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "tuner/answer/experience.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

DeviceInfo shipped_gpu(const std::string& name) {
  DeviceInfo info = device_info(find_gpu(name));
  info.kind = DeviceKind::cuda;
  return info;
}

/// What is shipped of gemm for a GPU, and what is known there of others of the architecture.
class Shipped {
 public:
  Shipped(const std::string& gpu, const std::string& units)
      : device_(shipped_gpu(gpu)),
        ones_(problem_of(target_, {{"M", 1}, {"N", 1}, {"K", 1}}, {{"units", units}})),
        program_(target_, ones_, device_, SizeBinding::given) {
    const db::Layer layer{AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", db::Mode::shipped};
    db::LookupRequest request;
    request.target = target_.name;
    request.size_names = kernel_row(target_).sizes;
    const auto settings = ones_.values.begin() + static_cast<std::ptrdiff_t>(target_.sizes.size());
    request.settings = to_text({settings, ones_.values.end()});
    request.policy = "l2=hot launch=graph context=between";
    request.device = device_row(device_);
    times_ = db::read_past_times({&layer, 1}, request);
  }

  /// Those of the GPU.
  std::vector<db::PastProblem> problems() const {
    std::vector<db::PastProblem> own = times_.problems;
    std::erase_if(own, [&](const db::PastProblem& problem) { return !is_own(problem); });
    return own;
  }

  /// What is known without these sizes.
  std::unique_ptr<Experience> without(const db::PastProblem& problem) const {
    db::PastTimes others = times_;
    std::erase_if(others.problems,
                  [&](const db::PastProblem& other) { return other.sizes == problem.sizes; });
    return std::make_unique<Experience>(SizedTarget{target_, ones_, device_, program_},
                                        std::move(others));
  }

  /// The library's time over that of what answers: 1 where the library does. nullopt if that was
  /// not timed there.
  static std::optional<double> gain(const Experience& experience, const db::PastProblem& problem,
                                    double confidence) {
    const auto sizes = std::span(problem.sizes);
    const auto choice = experience.choose(sizes);
    if (!choice) return 1;
    const auto library = experience.library_for(sizes, choice->expected_seconds, confidence);
    if (library && library->answers) return 1;
    const auto timed =
        std::ranges::find(problem.good, choice->known.configuration, &db::PastTime::configuration);
    if (timed == problem.good.end() || timed->ns == 0) return std::nullopt;
    return problem.baseline_ns / timed->ns;
  }

 private:
  bool is_own(const db::PastProblem& problem) const {
    return db::is_same_device(times_.devices[problem.device], device_row(device_));
  }

  const DeviceInfo device_;
  const Target target_ = find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const Problem ones_;
  const TargetProgram program_;
  db::PastTimes times_;
};

double volume_of(const db::PastProblem& problem) {
  return static_cast<double>(problem.sizes[0] * problem.sizes[1] * problem.sizes[2]);
}

/// Times of the best of cuBLAS over those of what answers: 1 where the library does.
class Gains {
 public:
  void add(const db::PastProblem& problem, double ratio) {
    ++problems_;
    answers_ += ratio == 1 ? 0 : 1;
    least_ = std::min(least_, ratio);
    if (volume_of(problem) < 1 << 24) return;
    ++large_;
    log_sum_ += std::log(ratio);
  }
  double least() const { return least_; }
  double of_large() const { return std::exp(log_sum_ / std::max(1, large_)); }
  void print(double confidence) const {
    std::printf("%g: %d problems, ours answers %d, least %.3f; from 2^24 (%d): mean %.3f\n",
                confidence, problems_, answers_, least(), large_, of_large());
  }

 private:
  int problems_ = 0, answers_ = 0, large_ = 0;
  double least_ = 1, log_sum_ = 0;
};

using GpuAndUnits = std::tuple<const char*, const char*>;

/// Of all families together, and of those without tensor cores.
class ShippedChoice : public testing::TestWithParam<GpuAndUnits> {};

/// Each of the shipped problems in turn counts as not tuned.
TEST_P(ShippedChoice, NoAnswerIsSlowerThanTheLibrary) {
  const auto [gpu, units] = GetParam();
  const Shipped gemm(gpu, units);
  const std::vector<db::PastProblem> problems = gemm.problems();
  ASSERT_FALSE(problems.empty()) << "db/shipped has nothing of this GPU";
  Gains at_95, at_99;
  constexpr std::size_t kEach = 4;  // to take less time
  for (std::size_t i = 0; i < problems.size(); i += kEach) {
    const db::PastProblem& problem = problems[i];
    if (problem.baseline_ns <= 0) continue;
    const auto others = gemm.without(problem);
    for (Gains* gains : {&at_95, &at_99}) {
      const double confidence = gains == &at_95 ? 0.95 : 0.99;
      if (const auto gain = Shipped::gain(*others, problem, confidence)) gains->add(problem, *gain);
    }
  }
  at_95.print(0.95);
  at_99.print(0.99);
  EXPECT_GE(at_99.least(), 0.95);
  EXPECT_GE(at_99.of_large(), units == std::string("any") ? 1.2 : 1.0);
}

INSTANTIATE_TEST_SUITE_P(Gpus, ShippedChoice,
                         testing::Combine(testing::Values("NVIDIA H200", "NVIDIA H100 80GB HBM3"),
                                          testing::Values("any", "fp32")));

}  // namespace
}  // namespace autotune
