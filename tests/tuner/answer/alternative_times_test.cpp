// SPDX-License-Identifier: Apache-2.0
// gemm_split in the place of gemm at sizes that were not tuned, judged by the shipped times of an
// H200 and an H100: each problem counts as not tuned in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/answer/alternative.hpp"
#include "tuner/answer/experience.hpp"
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
    request.size_names = "M N K";
    request.settings = to_text({ones_.values.begin() + 3, ones_.values.end()});
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

  /// The answer for these sizes from those of all others, on this GPU or only on other ones.
  LookupAnswer answer_without(const db::PastProblem& problem, bool other_gpus_only = false) const {
    db::PastTimes others = times_;
    std::erase_if(others.problems, [&](const db::PastProblem& other) {
      return other.sizes == problem.sizes || (other_gpus_only && is_own(other));
    });
    Experience experience({target_, ones_, device_, program_}, std::move(others));
    LookupAnswer answer;
    const auto choice = experience.choose(std::span(problem.sizes).first(3));
    if (!choice) return answer;
    if (!choice->is_standard) {
      answer.origin = choice->same_device ? db::Origin::transferred : db::Origin::same_architecture;
    }
    answer.distance = choice->distance;
    answer.expected_ns = choice->expected_seconds * 1e9;
    answer.baseline_ns = choice->baseline_seconds * 1e9;
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
      expect_well_chosen(problem, split.answer_without(problem, other_gpus_only),
                         gemm.answer_without(problem), tally);
    }
  }
};

TEST_P(AlternativeTimes, ItIsChosenOnlyWhereItWasFasterAndWhereItGainsMost) {
  expect_well_chosen_everywhere(false);
}

TEST_P(AlternativeTimes, TheyAreAlsoKnownFromAnotherGpu) { expect_well_chosen_everywhere(true); }

INSTANTIATE_TEST_SUITE_P(Gpus, AlternativeTimes,
                         testing::Values("NVIDIA H200", "NVIDIA H100 80GB HBM3"));

}  // namespace
}  // namespace autotune
