// SPDX-License-Identifier: Apache-2.0
// gemm_split in the place of gemm at sizes that were not tuned, judged by the shipped times of an
// H200: each problem counts as not tuned in turn.
#include <gtest/gtest.h>

#include <cmath>

#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/alternative.hpp"
#include "tuner/runtime/experience.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

DeviceInfo shipped_gpu() {
  DeviceInfo info = device_info(find_gpu("NVIDIA H200"));
  info.kind = DeviceKind::cuda;
  return info;
}

/// What is shipped of one target on the H200.
class Shipped {
 public:
  explicit Shipped(const std::string& name)
      : target_(find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/" + name + "/" + name +
                            ".target.toml")) {
    const db::Layer layer{AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", db::Mode::shipped};
    db::LookupRequest request;
    request.target = name;
    request.size_names = "M N K";
    request.settings = to_text({ones_.values.begin() + 3, ones_.values.end()});
    request.policy = "l2=hot launch=graph context=between";
    request.device = device_row(device_);
    times_ = db::read_past_times({&layer, 1}, request);
    std::erase_if(times_.problems, [&](const db::PastProblem& problem) {
      return !db::is_same_device(times_.devices[problem.device], request.device);
    });
  }

  const std::vector<db::PastProblem>& problems() const { return times_.problems; }

  /// The answer for these sizes from those of all others.
  LookupAnswer answer_without(const db::PastProblem& problem) const {
    db::PastTimes others = times_;
    std::erase_if(others.problems,
                  [&](const db::PastProblem& other) { return other.sizes == problem.sizes; });
    Experience experience({target_, ones_, device_, program_}, std::move(others));
    LookupAnswer answer;
    const auto choice = experience.choose(std::span(problem.sizes).first(3));
    if (!choice) return answer;
    if (!choice->is_standard) answer.origin = db::Origin::transferred;
    answer.distance = choice->distance;
    answer.expected_ns = choice->expected_seconds * 1e9;
    answer.baseline_ns = choice->baseline_seconds * 1e9;
    return answer;
  }

 private:
  const Target target_;
  const DeviceInfo device_ = shipped_gpu();
  const Problem ones_ = problem_of(target_, {{"M", 1}, {"N", 1}, {"K", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  db::PastTimes times_;
};

double volume_of(const db::PastProblem& problem) {
  return static_cast<double>(problem.sizes[0] * problem.sizes[1] * problem.sizes[2]);
}

TEST(AlternativeTimes, ItIsChosenOnlyWhereItWasFasterAndWhereItGainsMost) {
  const Shipped gemm("gemm"), split("gemm_split");
  ASSERT_FALSE(split.problems().empty()) << "db/shipped has no gemm_split of this GPU";
  for (const db::PastProblem& problem : split.problems()) {
    const double volume = volume_of(problem);
    if (volume < 1 << 23) continue;
    const bool is_chosen = is_faster(split.answer_without(problem), gemm.answer_without(problem),
                                     Engines::with_libraries);
    const double speedup = problem.baseline_ns / problem.good.front().ns;
    const std::int64_t m = problem.sizes[0], n = problem.sizes[1], k = problem.sizes[2];
    if (is_chosen) {
      EXPECT_GT(speedup, 1.1) << m << ' ' << n << ' ' << k;
    } else if (volume >= 1 << 29) {
      EXPECT_LT(speedup, 1.7) << m << ' ' << n << ' ' << k;
    }
  }
}

}  // namespace
}  // namespace autotune
