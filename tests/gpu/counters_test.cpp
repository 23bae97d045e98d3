// SPDX-License-Identifier: Apache-2.0
// The hardware counts what arithmetic says.
#include <gmock/gmock.h>

#include <algorithm>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/vendor_library.hpp"
#include "tuner/core/error.hpp"
#include "tuner/plugin/plugin_baseline.hpp"

namespace autotune {
namespace {

constexpr std::int64_t kCounted = 1 << 24;

class CountersOnGpu : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (!IsSkipped() && !std::filesystem::exists(counters_plugin())) {
      GTEST_SKIP() << counters_plugin() << " is not there";
    }
  }

  /// Of a kernel with this body on n elements. Skips where the driver forbids it.
  void count(const std::string& body, std::int64_t n) {
    const auto counting = make_cuda_device(0, std::make_shared<BuildCache>(folder() / "cache"), {},
                                           nullptr, count_with_plugin);
    const auto bench = counting->open(saxpy_workload(n));
    const auto candidate = bench->load(counting->compile(saxpy_unit(body)), saxpy_plan(n));
    try {
      counters_ = counters_of(*candidate, counters_plugin());
    } catch (const Error& error) {
      figure("hardware counters", error.what());
      const std::string reason = error.what();
      const bool forbidden = reason.find("administrators") != std::string::npos ||
                             reason.find("CUPTI cannot be loaded") != std::string::npos ||
                             reason.find("virtual GPU") != std::string::npos ||
                             reason.find("MIG") != std::string::npos;
      if (!forbidden) throw;
      GTEST_SKIP() << reason;
    }
    for (const Counter& one : counters_) figure(one.name, format("{:.6g} {}", one.value, one.unit));
  }

  double value(const std::string& name) const {
    const auto found = std::ranges::find(counters_, name, &Counter::name);
    EXPECT_NE(found, counters_.end()) << name;
    return found == counters_.end() ? -1 : found->value;
  }

  Counters counters_;
};

TEST_F(CountersOnGpu, CountsWhatSaxpyDoes) {
  count(kRightBody, kCounted);
  if (IsSkipped()) return;
  const auto n = static_cast<double>(kCounted);
  EXPECT_DOUBLE_EQ(value("flops_f32"), 2 * n);
  EXPECT_DOUBLE_EQ(value("load_requests"), 2 * n / 32);
  EXPECT_DOUBLE_EQ(value("load_sectors"), 2 * n * 4 / 32);
  EXPECT_DOUBLE_EQ(value("store_sectors"), n * 4 / 32);
  EXPECT_NEAR(value("load_efficiency"), 1, 1e-3);
  EXPECT_GT(value("instructions"), 10 * n / 32);
  EXPECT_LT(value("instructions"), 50 * n / 32);
  EXPECT_NEAR(value("thread_instructions") / value("instructions"), 32, 1e-3);
  // The caches hold a part of 201 MB.
  EXPECT_LE(value("dram_read_bytes"), 1.1 * 8 * n);
  EXPECT_GE(value("dram_read_bytes"), 0.4 * 8 * n);
  EXPECT_GT(value("achieved_occupancy"), 0.4);
  EXPECT_LE(value("achieved_occupancy"), 1);
  EXPECT_EQ(value("shared_conflicts"), 0);
}

TEST_F(CountersOnGpu, SeesAStridedLoadAndBankConflicts) {
  // 32 threads read 32 sectors and write 32 words of one bank.
  count(R"(
  __shared__ float tile[256 * 32];
  if (i < n) {
    tile[threadIdx.x % 32 * 32 + threadIdx.x / 32] = x[(i * 33ll) % n];
    __syncthreads();
    out[i] = tile[threadIdx.x % 32 * 32 + threadIdx.x / 32] + y[i] * a;
  })",
        1 << 20);
  if (IsSkipped()) return;
  EXPECT_LT(value("load_efficiency"), 0.3);
  EXPECT_GT(value("shared_conflicts"), (1 << 20) / 32 * 31);
}

}  // namespace
}  // namespace autotune
