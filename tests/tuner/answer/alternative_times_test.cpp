// SPDX-License-Identifier: Apache-2.0
// gemm_split in the place of gemm at sizes that were not tuned, judged by the shipped times of an
// H200 and an H100: each problem counts as not tuned in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <vector>

#include "tuner/answer/alternative.hpp"
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

/// What is shipped of one target for a GPU, and what is known there of others of the architecture.
class Shipped {
 public:
  Shipped(const std::string& name, const std::string& gpu)
      : device_(shipped_gpu(gpu)),
        target_(find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name +
                            ".target.toml")) {
    const db::Layer layer{AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", db::Mode::shipped};
    db::LookupRequest request;
    request.target = name;
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

  /// What is known without these sizes, on this GPU or only on other ones.
  std::unique_ptr<Experience> without(const db::PastProblem& problem,
                                      bool other_gpus_only = false) const {
    db::PastTimes others = times_;
    std::erase_if(others.problems, [&](const db::PastProblem& other) {
      return other.sizes == problem.sizes || (other_gpus_only && is_own(other));
    });
    return std::make_unique<Experience>(SizedTarget{target_, ones_, device_, program_},
                                        std::move(others));
  }

  static LookupAnswer answer(const Experience& experience, const db::PastProblem& problem,
                             double confidence = Experience::kConfidence) {
    const auto sizes = std::span(problem.sizes);
    LookupAnswer answer;
    const auto choice = experience.choose(sizes);
    if (!choice) return answer;
    if (!choice->is_standard) {
      answer.origin = choice->same_device ? db::Origin::transferred : db::Origin::same_architecture;
    }
    answer.distance = choice->distance;
    answer.expected_ns = choice->expected_seconds * 1e9;
    const auto library = experience.library_for(sizes, choice->expected_seconds, confidence);
    answer.library_is_expected = library.has_value();
    if (library && library->answers) {
      answer.baseline = "cublas";
      answer.baseline_ns = library->seconds * 1e9;
    }
    return answer;
  }

 private:
  bool is_own(const db::PastProblem& problem) const {
    return db::is_same_device(times_.devices[problem.device], device_row(device_));
  }

  const DeviceInfo device_;
  const Target target_;
  const Problem ones_ = problem_of(target_, {{"M", 1}, {"N", 1}, {"K", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  db::PastTimes times_;
};

double volume_of(const db::PastProblem& problem) {
  return static_cast<double>(problem.sizes[0] * problem.sizes[1] * problem.sizes[2]);
}

/// Speedups of gemm_split over the vendor's library: where it answers, and the largest where not.
struct Tally {
  int problems = 0, answers = 0;
  double log_sum = 0, least = 1e9, missed = 0;

  ~Tally() {
    std::printf("%d problems; gemm_split answers %d: mean %.2f, least %.2f; missed at most %.2f\n",
                problems, answers, std::exp(log_sum / std::max(1, answers)), least, missed);
  }
};

void expect_well_chosen(const db::PastProblem& problem, const LookupAnswer& split,
                        const LookupAnswer& gemm, Tally& tally) {
  const double volume = volume_of(problem);
  const double speedup = problem.baseline_ns / problem.good.front().ns;
  SCOPED_TRACE(format("{}x{}x{}", problem.sizes[0], problem.sizes[1], problem.sizes[2]));
  ++tally.problems;
  if (is_faster(split, gemm, Engines::with_libraries)) {
    EXPECT_GT(speedup, 1.1);
    ++tally.answers;
    tally.log_sum += std::log(speedup);
    tally.least = std::min(tally.least, speedup);
  } else {
    if (volume >= 1 << 29) {
      EXPECT_LT(speedup, 1.75);
    }
    tally.missed = std::max(tally.missed, speedup);
  }
}

class AlternativeTimes : public testing::TestWithParam<const char*> {
 protected:
  void expect_well_chosen_everywhere(bool other_gpus_only) {
    const Shipped gemm("gemm", GetParam()), split("gemm_split", GetParam());
    ASSERT_FALSE(split.problems().empty()) << "db/shipped has no gemm_split of this GPU";
    Tally tally;
    for (const db::PastProblem& problem : split.problems()) {
      if (volume_of(problem) < 1 << 23) continue;
      expect_well_chosen(problem,
                         Shipped::answer(*split.without(problem, other_gpus_only), problem),
                         Shipped::answer(*gemm.without(problem), problem), tally);
    }
  }
};

TEST_P(AlternativeTimes, ItIsChosenOnlyWhereItWasFasterAndWhereItGainsMost) {
  expect_well_chosen_everywhere(false);
}

TEST_P(AlternativeTimes, TheyAreAlsoKnownFromAnotherGpu) { expect_well_chosen_everywhere(true); }

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

/// Each of the shipped problems in turn counts as not tuned, for both targets.
TEST_P(AlternativeTimes, NoAnswerIsSlowerThanTheLibrary) {
  const Shipped gemm("gemm", GetParam()), split("gemm_split", GetParam());
  const std::vector<db::PastProblem> of_gemm = gemm.problems(), of_split = split.problems();
  Gains at_95, at_99;
  constexpr std::size_t kEach = 3;  // to take less time
  for (std::size_t i = 0; i < of_gemm.size(); i += kEach) {
    const db::PastProblem& problem = of_gemm[i];
    if (problem.baseline_ns <= 0) continue;
    const auto own = gemm.without(problem), other = split.without(problem);
    const auto there = std::ranges::find(of_split, problem.sizes, &db::PastProblem::sizes);
    for (Gains* gains : {&at_95, &at_99}) {
      const double confidence = gains == &at_95 ? 0.95 : 0.99;
      const LookupAnswer mine = Shipped::answer(*own, problem, confidence);
      const LookupAnswer others = Shipped::answer(*other, problem, confidence);
      const bool is_split = is_faster(others, mine, Engines::with_libraries);
      if (is_split && there == of_split.end()) continue;  // never measured
      const db::PastProblem& answering = is_split ? *there : problem;
      const bool is_library = !(is_split ? others : mine).baseline.empty();
      gains->add(problem, is_library ? 1 : answering.baseline_ns / answering.good.front().ns);
    }
  }
  at_95.print(0.95);
  at_99.print(0.99);
  EXPECT_GE(at_99.least(), 0.95);
  EXPECT_GE(at_99.of_large(), 1.2);
}

INSTANTIATE_TEST_SUITE_P(Gpus, AlternativeTimes,
                         testing::Values("NVIDIA H200", "NVIDIA H100 80GB HBM3"));

}  // namespace
}  // namespace autotune
