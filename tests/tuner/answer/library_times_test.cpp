// SPDX-License-Identifier: Apache-2.0
// What is shipped of one GPU, used on another of its architecture.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/tuner/answer/shipped_gemm.hpp"

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
  /// Only the other GPUs' results.
  db::PastTimes of_others() const {
    db::PastTimes times = h100_.times();
    std::erase_if(times.problems,
                  [&](const db::PastProblem& problem) { return h100_.is_here(times, problem); });
    return times;
  }

  const ShippedGemm h100_{"NVIDIA H100 80GB HBM3"};
  Experience experience_ = h100_.experience(of_others());
};

TEST_F(ShippedResults, OfAnotherGpuTellWhatTheLibraryTakesHere) {
  double squares = 0;
  for (const Measured& each : kMeasured) {
    constexpr double kForever = 1;  // ours, so that the library answers
    const auto library = experience_.library_for(all_sizes(h100_.target(), each.sizes), kForever);
    ASSERT_TRUE(library);
    EXPECT_EQ(library->plugin, "cublas") << each.cublas_us;
    squares += std::pow(std::log(library->seconds * 1e6 / each.cublas_us), 2);
  }
  EXPECT_LT(std::sqrt(squares / static_cast<double>(kMeasured.size())), 0.12);
}

/// Nothing that was good at other sizes is valid there but the default configuration.
TEST_F(ShippedResults, LeaveNoSizeWithoutAChoice) {
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{2, 29, 649}, {2, 77, 183}, {3, 3, 505}}) {
    EXPECT_TRUE(experience_.choose(all_sizes(h100_.target(), sizes)))
        << sizes[0] << ' ' << sizes[1] << ' ' << sizes[2];
  }
}

}  // namespace
}  // namespace autotune
