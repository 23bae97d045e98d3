// SPDX-License-Identifier: Apache-2.0
// What is shipped of one GPU, used on another of its architecture.
#include <gtest/gtest.h>

#include <cmath>

#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"
#include "tuner/runtime/experience.hpp"
#include "tuner/target/catalog.hpp"

namespace autotune {
namespace {

struct Measured {
  std::vector<std::int64_t> sizes;
  double cublas_us;  // cublasSgemm between ordinary kernels on an H100 80GB HBM3, CUDA 13.0
};

/// Random shapes of untuned_bench --seed 90125.
const std::vector<Measured> kMeasured{
    {{407, 351, 3695}, 37.6},   {{109, 193, 1341}, 9.8},     {{189, 3971, 965}, 43.2},
    {{3865, 377, 49}, 8.2},     {{3889, 1122, 527}, 120.6},  {{843, 79, 1043}, 12.7},
    {{2277, 301, 2765}, 105.3}, {{2667, 2153, 1753}, 476.3}, {{763, 3607, 65}, 16.4},
    {{65, 3967, 271}, 10.8},    {{181, 3710, 274}, 16.5},    {{1745, 279, 51}, 5.0},
    {{1233, 179, 409}, 11.2},   {{107, 651, 1953}, 16.5},    {{757, 75, 4051}, 24.8}};

class ShippedResults : public testing::Test {
 protected:
  static DeviceInfo h100() {
    DeviceInfo info = device_info(find_gpu("NVIDIA H100 80GB HBM3"));
    info.kind = DeviceKind::cuda;
    return info;
  }

  /// Only the other GPUs' results.
  db::PastTimes of_others() const {
    const db::Layer shipped{AUTOTUNE_BINARY_DIR "/share/autotune/shipped.db", db::Mode::shipped};
    db::LookupRequest request;
    request.target = "gemm";
    request.size_names = "M N K";
    request.settings = to_text({ones_.values.begin() + 3, ones_.values.end()});
    request.policy = "l2=hot launch=graph context=between";
    request.device = device_row(h100_);
    db::PastTimes times = db::read_past_times({&shipped, 1}, request);
    std::erase_if(times.problems, [&](const db::PastProblem& problem) {
      return db::is_same_device(times.devices[problem.device], request.device);
    });
    return times;
  }

  const Target gemm_ = find_target(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const DeviceInfo h100_ = h100();
  const Problem ones_ = problem_of(gemm_, {{"M", 1}, {"N", 1}, {"K", 1}}, {});
  const TargetProgram program_{gemm_, ones_, h100_, SizeBinding::given};
  Experience experience_{{gemm_, ones_, h100_, program_}, of_others()};
};

TEST_F(ShippedResults, OfAnotherGpuTellWhatTheLibraryTakesHere) {
  double squares = 0;
  for (const Measured& each : kMeasured) {
    const auto choice = experience_.choose(each.sizes);
    ASSERT_TRUE(choice);
    EXPECT_EQ(choice->baseline, "cublas") << each.cublas_us;
    squares += std::pow(std::log(choice->baseline_seconds * 1e6 / each.cublas_us), 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(kMeasured.size())), 0.12);
}

/// Nothing that was good at other sizes is valid there but the default configuration.
TEST_F(ShippedResults, LeaveNoSizeWithoutAChoice) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 29, 649}, {2, 77, 183}, {3, 3, 505}}) {
    EXPECT_TRUE(experience_.choose(sizes)) << sizes[0] << ' ' << sizes[1] << ' ' << sizes[2];
  }
}

}  // namespace
}  // namespace autotune
