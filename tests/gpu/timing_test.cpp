// SPDX-License-Identifier: Apache-2.0
// What a time means: floors, additive bias, cold and hot, clocks, and what deciding costs.
#include <cuda_runtime_api.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/vendor_library.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/kernel_launch.hpp"
#include "tuner/measure/batch.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/plugin/target_hooks.hpp"

namespace autotune {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Spins for `nanoseconds` of the GPU's global timer, then writes its one element.
SourceUnit spin_unit(std::int64_t nanoseconds) {
  SourceUnit unit = saxpy_unit(R"(
long long start, now;
asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)); while (now - start < SPIN);
if (i < n) out[i] = a * x[i] + y[i];)");
  unit.prelude = format("#define SPIN {}ll\n", nanoseconds);
  return unit;
}

class Timing : public Gpu {
 protected:
  static int launches_for(double seconds) {
    return std::clamp(static_cast<int>(std::ceil(500e-6 / seconds)), 8, 1024);
  }
  /// Median of nine batches.
  static double timed(Timer& timer, int launches, L2State l2 = L2State::hot) {
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) times.push_back(timer.time(launches, l2).seconds);
    return median(times);
  }
};

TEST_F(Timing, AnEmptyKernelCostsTheFloor) {
  Workload workload = saxpy_workload(1000);
  const double graph = device().open(workload)->launch_floor();
  workload.form = LaunchForm::stream;
  const double stream = device().open(workload)->launch_floor();
  figure("launch floor, graph", format("{:.3f} us", graph * 1e6), "about 0.56 us");
  figure("launch floor, stream", format("{:.3f} us", stream * 1e6));
  EXPECT_GT(graph, 0.2e-6);
  EXPECT_LT(graph, 1.5e-6);
  EXPECT_GT(stream, graph);
}

TEST_F(Timing, AddsTheSameToEveryKernel) {
  const auto bench = device().open(saxpy_workload(32));
  std::vector<double> spun, measured;
  for (const std::int64_t us : {2, 3, 5, 8, 12, 20, 35, 50, 100, 200}) {
    const auto candidate = bench->load(compiled(spin_unit(us * 1000)), saxpy_plan(32, 32));
    spun.push_back(static_cast<double>(us) * 1e-6);
    measured.push_back(timed(*candidate, launches_for(spun.back())));
  }
  const auto n = static_cast<double>(spun.size());
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < spun.size(); ++i) {
    sx += spun[i], sy += measured[i], sxx += spun[i] * spun[i], sxy += spun[i] * measured[i];
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  const double offset = (sy - slope * sx) / n;
  double worst = 0;
  for (std::size_t i = 0; i < spun.size(); ++i) {
    const double residual = std::abs(measured[i] - slope * spun[i] - offset);
    // Once a process has launched some kernels, short nodes of graphs take up to 0.19 us more.
    worst = std::max(worst, residual / std::max(0.02 * spun[i], 0.25e-6));
    figure(format("spin of {:.0f} us", spun[i] * 1e6), format("{:.3f} us", measured[i] * 1e6));
  }
  figure("slope against spin kernels", format("{:.4f}", slope), "1.00 +- 0.02");
  figure("offset against spin kernels", format("{:.3f} us", offset * 1e6));
  figure("worst residual / max(2 %, 0.25 us)", format("{:.2f}", worst), "< 1");
  EXPECT_NEAR(slope, 1, 0.02);
  EXPECT_LT(worst, 1);
}

/// An ordinary kernel adds what it takes, whatever stands beside it.
TEST_F(Timing, AKernelOfTwentyMicrosecondsTakesThemInEveryContext) {
  for (const LaunchForm form : {LaunchForm::graph, LaunchForm::stream}) {
    Workload workload = saxpy_workload(32);
    workload.form = form;
    const auto bench = device().open(workload);
    const auto candidate = bench->load(compiled(spin_unit(20'000)), saxpy_plan(32, 32));
    std::map<CallContext, double> seconds;
    for (const CallContext context :
         {CallContext::chain, CallContext::in_order, CallContext::between, CallContext::alone}) {
      InContext timer(*candidate, context);
      seconds[context] = timed(timer, 25);
      figure(format("spin of 20 us, {}, {}", form == LaunchForm::graph ? "graph" : "stream",
                    name_of(context)),
             format("{:.2f} us", seconds[context] * 1e6));
    }
    const double chain = seconds[CallContext::chain];
    EXPECT_NEAR(seconds[CallContext::in_order], chain, 0.02 * chain);
    EXPECT_NEAR(seconds[CallContext::between], chain, 1.5e-6);
    EXPECT_GT(seconds[CallContext::alone], 20e-6);
    EXPECT_LT(seconds[CallContext::alone], chain + 30e-6) << "with what the host adds";
  }
}

TEST_F(Timing, BetweenOthersOperandsAreColdWhereThatIsAskedFor) {
  const std::int64_t n = 1 << 20;
  const auto bench = device().open(saxpy_workload(n));
  const auto candidate = bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(n));
  InContext between(*candidate, CallContext::between);
  EXPECT_EQ(between.time(8, L2State::cold).l2, L2State::cold);
  EXPECT_GT(timed(between, 200, L2State::cold), 1.1 * timed(between, 200));
}

TEST_F(Timing, ColdIsSlowerThanHotAndSaysSo) {
  const std::int64_t n = 1 << 20;  // 12 MiB in all
  const auto bench = device().open(saxpy_workload(n));
  const auto candidate = bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(n));
  EXPECT_EQ(candidate->time(8, L2State::hot).l2, L2State::hot);
  EXPECT_EQ(candidate->time(8, L2State::cold).l2, L2State::cold);
  const double hot = timed(*candidate, 200), cold = timed(*candidate, 200, L2State::cold);
  figure("saxpy 2^20, hot L2", format("{:.2f} us, {:.0f} GB/s", hot * 1e6, 12 * n / hot / 1e9));
  figure("saxpy 2^20, cold L2", format("{:.2f} us, {:.0f} GB/s", cold * 1e6, 12 * n / cold / 1e9),
         "below the memory's rate");
  EXPECT_GT(cold, 1.1 * hot);
  EXPECT_LT(12 * n / cold, device().info().memory_bytes_per_second);
}

TEST_F(Timing, AnInputThatStreamsIsColdWhereTheOthersAreHot) {
  const std::int64_t n = 1 << 20;
  Workload workload = saxpy_workload(n);
  const auto seconds_of = [&](L2State l2) {
    const auto bench = device().open(workload);
    const auto candidate = bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(n));
    EXPECT_EQ(candidate->time(8, l2).l2, l2);
    return timed(*candidate, 200, l2);
  };
  const double hot = seconds_of(L2State::hot), cold = seconds_of(L2State::cold);
  workload.buffers.front().streams = true;  // a third of the bytes
  const double streamed = seconds_of(L2State::hot);
  figure("saxpy 2^20, hot, one input streams, cold",
         format("{:.2f}, {:.2f}, {:.2f} us", hot * 1e6, streamed * 1e6, cold * 1e6));
  EXPECT_GT(streamed, 1.03 * hot);
  EXPECT_LT(streamed, 1.03 * cold);
  EXPECT_NEAR(seconds_of(L2State::cold), cold, 0.05 * cold);
}

TEST_F(Timing, BuffersTooSmallForAColdRotationAreLabelledHot) {
  const auto bench = device().open(saxpy_workload(64));
  const auto candidate = bench->load(compiled(saxpy_unit(kRightBody)), saxpy_plan(64));
  EXPECT_EQ(candidate->time(8, L2State::cold).l2, L2State::hot);
}

TEST_F(Timing, TheClockOfABatchIsKnown) {
  const auto bench = device().open(saxpy_workload(32));
  const auto candidate = bench->load(compiled(spin_unit(20'000)), saxpy_plan(32, 32));
  std::vector<double> clocks;
  for (int i = 0; i < 20; ++i) clocks.push_back(candidate->time(25, L2State::hot).clock_hz);
  std::ranges::sort(clocks);
  figure("SM clock over batches of 500 us",
         format("{:.0f} .. {:.0f} MHz, boost {:.0f}", clocks.front() / 1e6, clocks.back() / 1e6,
                device().info().clock_hz / 1e6),
         "within 1 %");
  EXPECT_GT(clocks.front(), 0.3 * device().info().clock_hz);
  EXPECT_LT(clocks.back(), 1.05 * device().info().clock_hz);
}

TEST_F(Timing, TwoTimersOfOneKernelAgree) {
  const auto bench = device().open(saxpy_workload(32));
  const CompiledKernel kernel = compiled(spin_unit(10'000));
  const auto one = bench->load(kernel, saxpy_plan(32, 32));
  const auto other = bench->load(kernel, saxpy_plan(32, 32));
  std::vector<double> ratios;
  for (int i = 0; i < 15; ++i) {
    ratios.push_back(one->time(50, L2State::hot).seconds / other->time(50, L2State::hot).seconds);
  }
  std::ranges::sort(ratios);
  figure("A/A of a 10 us kernel, interleaved",
         format("{:+.2f} % .. {:+.2f} %", (ratios[1] - 1) * 100, (ratios[13] - 1) * 100),
         "within 1 %");
  EXPECT_NEAR(median(ratios), 1, 0.01);
}

TEST_F(Timing, TheStreamFormTimesToo) {
  Workload workload = saxpy_workload(32);
  workload.form = LaunchForm::stream;
  const auto bench = device().open(workload);
  const auto candidate = bench->load(compiled(spin_unit(20'000)), saxpy_plan(32, 32));
  const double seconds = timed(*candidate, 25);
  figure("spin of 20 us, stream form", format("{:.3f} us", seconds * 1e6));
  EXPECT_GT(seconds, 20e-6);
  EXPECT_LT(seconds, 30e-6);
}

// What we read from cubins is what the driver says of them.

class Resources : public Gpu {};

TEST_F(Resources, OfACubinAreTheDrivers) {
  const SourceUnit unit = unit_of(R"(
extern "C" __global__ void plain(float* to) { to[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(96) bounded(float* to) {
  __shared__ double tile[100];
  tile[threadIdx.x] = to[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[threadIdx.x ^ 1];
}
extern "C" __global__ void spilled(float* data, int n) {
  float copy[200];
  for (int i = 0; i < 200; ++i) copy[i] = data[i];
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 200; ++i) copy[(i * n) % 200] += copy[i] * copy[(i + 1) % 200];
  for (int i = 0; i < 200; ++i) data[i] = copy[i];
}
extern "C" __global__ void arguments(char a, double b, short c, const float* d, int e) {
  if (a == c) *(float*)d = b + e;
})",
                                  {"plain", "bounded", "spilled", "arguments"});
  const CompiledKernel kernel = compiled(unit);
  cudaSetDevice(0);
  const LoadedCubin cubin(*kernel.binary);
  for (const KernelResources& resources : kernel.resources) {
    const void* const function = cubin.kernel(resources.entry);
    cudaFuncAttributes driver{};
    ASSERT_EQ(cudaFuncGetAttributes(&driver, function), cudaSuccess);
    EXPECT_EQ(resources.registers, driver.numRegs) << resources.entry;
    EXPECT_EQ(resources.shared_bytes, static_cast<std::int64_t>(driver.sharedSizeBytes))
        << resources.entry;
    EXPECT_EQ(resources.local_bytes, static_cast<std::int64_t>(driver.localSizeBytes))
        << resources.entry;
    if (resources.max_threads > 0) {
      EXPECT_EQ(resources.max_threads, driver.maxThreadsPerBlock);
    }
    const std::vector<int>& parameters = cubin.parameter_bytes(resources.entry);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::size_t offset = 0, bytes = 0;
      ASSERT_EQ(cudaFuncGetParamInfo(function, i, &offset, &bytes), cudaSuccess);
      EXPECT_EQ(parameters[i], static_cast<int>(bytes)) << resources.entry << i;
    }
  }
  EXPECT_EQ(cubin.parameter_bytes("arguments"), (std::vector<int>{1, 8, 2, 8, 4}));
  ASSERT_EQ(kernel.resources.size(), 4U);
  EXPECT_EQ(kernel.resources[1].max_threads, 96);
  EXPECT_GT(kernel.resources[2].local_bytes, 0);
}

// The hardware counts what arithmetic says.

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
