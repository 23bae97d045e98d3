// SPDX-License-Identifier: Apache-2.0
// What kernels may ask for: shared memory, clusters, TMA, several launches, and what is refused.
#include <map>
#include <thread>

#include "tests/gpu/by_chance.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tests/gpu/timed_kernels.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/verdicts.hpp"
#include "tuner/measure/judge.hpp"
#include "tuner/model/calibration.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

class LaunchTest : public Gpu {
 protected:
  Verdict verdict_of(const SourceUnit& unit, const LaunchPlan& plan, std::int64_t n) {
    const auto bench = device().open(saxpy_workload(n));
    return bench->load(compiled(unit), plan)->verify();
  }
  /// How loading or running fails.
  Outcome failure_of(const SourceUnit& unit, const LaunchPlan& plan, std::int64_t n) {
    try {
      verdict_of(unit, plan, n);
    } catch (const KernelFailure& failure) {
      message_ = failure.what();
      return failure.outcome();
    }
    return Outcome::ok;
  }
  void expect_device_still_works() { EXPECT_EQ(verdict_on(kRightBody).outcome, Outcome::ok); }

  std::string message_;
};

TEST_F(LaunchTest, TheDeviceIsDescribed) {
  const DeviceInfo& info = device().info();
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.compute_capability, 75);
  EXPECT_GT(info.l2_bytes, 1 << 20);
  EXPECT_GT(info.clock_hz, 5e8);
  EXPECT_GT(info.memory_bytes_per_second, 1e11);
  EXPECT_THAT(info.environment, HasSubstr("NVRTC"));
  figure("device", format("{} id={} sm_{} {} SMs {:.0f} MHz {:.2f} TB/s", info.name, info.id,
                          info.compute_capability, info.multiprocessors, info.clock_hz / 1e6,
                          info.memory_bytes_per_second / 1e12));
  figure("environment", info.environment);
}

TEST_F(LaunchTest, DynamicSharedMemoryUpToTheOptInLimit) {
  const std::int64_t n = 100'000;
  SourceUnit unit = saxpy_unit(
      "extern __shared__ float tile[];\nconst int last = BYTES / 4 - 1;\n"
      "tile[last - threadIdx.x] = i < n ? x[i] : 0; __syncthreads();\n"
      "if (i < n) out[i] = a * tile[last - threadIdx.x] + y[i];");
  const std::int64_t most = device().info().shared_bytes_per_block;
  LaunchPlan plan = saxpy_plan(n);
  for (const std::int64_t bytes : {std::int64_t{48} << 10, most}) {
    unit.prelude = format("#define BYTES {}\n", bytes);
    plan.launches[0].dynamic_shared_bytes = bytes;
    expect_right_verdict(verdict_of(unit, plan, n));
  }
  plan.launches[0].dynamic_shared_bytes = most + 16;
  EXPECT_EQ(failure_of(unit, plan, n), Outcome::launch_error);
  EXPECT_THAT(message_, HasSubstr("more than the device allows for a block"));
  expect_device_still_works();
}

TEST_F(LaunchTest, ClustersShareTheirSharedMemory) {
  if (device().info().compute_capability < 90) GTEST_SKIP() << "clusters came with 9.0";
  const std::int64_t n = 64 * 256;
  // Each block reads its neighbour's tile through distributed shared memory.
  const SourceUnit unit = saxpy_unit(R"(
__shared__ float tile[256];
unsigned rank, count, theirs;
asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
const unsigned next = (rank + 1) % count;
tile[threadIdx.x] = x[i];
asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
const unsigned mine = (unsigned)__cvta_generic_to_shared(&tile[threadIdx.x]);
asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(mine), "r"(next));
float value;
asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(theirs) : "memory");
const int at = (blockIdx.x - rank + next) * 256 + threadIdx.x;
out[at] = a * value + y[at];
asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");)");
  LaunchPlan plan = saxpy_plan(n);
  for (const int size : {2, 8, 16}) {
    plan.launches[0].cluster.x = size;
    const Verdict verdict = verdict_of(unit, plan, n);
    EXPECT_EQ(verdict.outcome, Outcome::ok) << size << ": " << verdict.message;
    EXPECT_GE(device().active_blocks(compiled(unit), plan.launches[0]).value_or(0), 1);
  }
  plan.launches[0].cluster.x = 32;
  EXPECT_EQ(failure_of(unit, plan, n), Outcome::launch_error) << message_;
  expect_device_still_works();
}

TEST_F(LaunchTest, AKernelThatStartsEarlySeesWhatTheOneAheadWrote) {
  if (device().info().compute_capability < 90) GTEST_SKIP() << "early starts came with 9.0";
  const std::int64_t n = 5000;
  const SourceUnit unit = unit_of(R"(
extern "C" __global__ void scale(int n, float a, const float* x, float* scratch) {
  asm volatile("griddepcontrol.launch_dependents;");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (const long long start = clock64(); clock64() - start < 200000;) {}
  if (i < n) scratch[i] = a * x[i];
}
extern "C" __global__ void add(int n, const float* scratch, const float* y, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < n) out[i] = scratch[i] + y[i];
})",
                                  {"scale", "add"});
  LaunchPlan plan;
  plan.workspace = {{"scratch", ElementType::f32, n, Role::workspace, Fill::random, 0}};
  const Scalar length{ElementType::i32, n, 0};
  plan.launches = {{"scale",
                    {20, 1, 1},
                    {256, 1, 1},
                    {},
                    0,
                    {length, Scalar{ElementType::f32, 0, 2.0}, BufferRef{0}, BufferRef{3}}},
                   {"add",
                    {20, 1, 1},
                    {256, 1, 1},
                    {},
                    0,
                    {length, BufferRef{3}, BufferRef{1}, BufferRef{2}},
                    true}};
  EXPECT_EQ(verdict_of(unit, plan, n).outcome, Outcome::ok);
}

TEST_F(LaunchTest, ArgumentsThatDoNotFitAreRefused) {
  const SourceUnit unit = saxpy_unit(kRightBody);
  LaunchPlan plan = saxpy_plan(1000);
  plan.launches[0].arguments.pop_back();
  EXPECT_EQ(failure_of(unit, plan, 1000), Outcome::launch_error);
  EXPECT_THAT(message_, HasSubstr("it takes 5 arguments, not 4"));
  plan = saxpy_plan(1000);
  plan.launches[0].arguments[1] = Scalar{ElementType::f64, 0, 2.0};
  EXPECT_EQ(failure_of(unit, plan, 1000), Outcome::launch_error);
  EXPECT_THAT(message_, HasSubstr("argument 2 has 8 bytes, and the kernel's parameter 4"));
  plan = saxpy_plan(1000);
  plan.launches[0].arguments[2] = BufferRef{7};
  EXPECT_EQ(failure_of(unit, plan, 1000), Outcome::launch_error);
}

TEST_F(LaunchTest, LaunchesBeyondTheLimitsAreRefusedAndHarmNothing) {
  const SourceUnit unit = saxpy_unit(kRightBody);
  EXPECT_EQ(failure_of(unit, saxpy_plan(5000, 2048), 5000), Outcome::launch_error);
  LaunchPlan plan = saxpy_plan(5000);
  plan.launches[0].grid = {1, 70'000, 1};
  EXPECT_EQ(failure_of(unit, plan, 5000), Outcome::launch_error);
  plan.launches[0].grid = {0, 1, 1};
  EXPECT_EQ(failure_of(unit, plan, 5000), Outcome::launch_error);
  expect_device_still_works();
}

TEST_F(LaunchTest, TooManyRegistersForTheBlockAreRefused) {
  const SourceUnit unit = saxpy_unit(R"(
float v[100];
#pragma unroll
for (int j = 0; j < 100; ++j) v[j] = x[(i + j * 7) % n];
for (int k = 0; k < n; ++k) {
#pragma unroll
  for (int j = 0; j < 100; ++j) v[j] = v[j] * v[(j + 1) % 100] + v[(j * 3) % 100];
}
float sum = 0;
#pragma unroll
for (int j = 0; j < 100; ++j) sum += v[j];
if (i < n) out[i] = sum;)");
  ASSERT_GT(compiled(unit).resources.at(0).registers, 64);
  EXPECT_EQ(failure_of(unit, saxpy_plan(4096, 1024), 4096), Outcome::launch_error);
  EXPECT_THAT(message_, HasSubstr("resources"));
  expect_device_still_works();
}

TEST_F(LaunchTest, ResidentBlocksAreTheDrivers) {
  const CompiledKernel kernel = compiled(saxpy_unit(kRightBody));
  LaunchPlan plan = saxpy_plan(1 << 20, 1024);
  EXPECT_EQ(device().active_blocks(kernel, plan.launches[0]),
            device().info().threads_per_multiprocessor / 1024);
  plan.launches[0].dynamic_shared_bytes = device().info().shared_bytes_per_block;
  EXPECT_EQ(device().active_blocks(kernel, plan.launches[0]), 1);
}

TEST_F(LaunchTest, ACrashSaysThatTheProcessIsSpent) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto crash = [this](const std::string& body) {
    try {
      verdict_on(body);
    } catch (const KernelFailure& failure) {
      std::fprintf(stderr, "%s", failure.what());
      try {
        verdict_on(kRightBody);
      } catch (const std::exception&) {
        std::_Exit(failure.outcome() == Outcome::crash ? 7 : 8);
      }
    }
    std::_Exit(9);
  };
  EXPECT_EXIT(crash("out[i + (1ll << 40)] = 1;"), testing::ExitedWithCode(7), "illegal memory");
  EXPECT_EXIT(crash("*(float4*)(out + 1) = make_float4(1, 2, 3, 4);"), testing::ExitedWithCode(7),
              "misaligned");
  EXPECT_EXIT(crash("__trap();"), testing::ExitedWithCode(7), "");
}

// The same thing measured twice by two processes: single kernels, and whole tunes of gemm.

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

// Theoretical occupancy is the driver's.

class OccupancyOfTheDriver : public Gpu {
 protected:
  /// With the groups of multiprocessors that this very board has.
  static const GpuSpec& gpu() {
    static const GpuSpec spec = calibrated(gpu_spec(device().info()), calibrate(device()));
    return spec;
  }

  /// Compares one launch of a compiled kernel.
  void compare(const CompiledKernel& kernel, const KernelResources& resources,
               const Launch& launch) {
    const auto driver = device().active_blocks(kernel, launch);
    ASSERT_TRUE(driver.has_value());
    const KernelShape shape{.threads = static_cast<int>(launch.block.count()),
                            .registers = resources.registers,
                            .static_shared_bytes = resources.shared_bytes,
                            .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                            .cluster = static_cast<int>(launch.cluster.count())};
    const Occupancy ours = occupancy(gpu(), shape);
    EXPECT_EQ(shape.cluster > 1 ? ours.active_clusters : ours.active_blocks, *driver)
        << shape.threads << " threads, " << shape.registers << " registers, "
        << shape.shared_bytes() << " bytes, clusters of " << shape.cluster;
    ++compared_;
  }

  int compared_ = 0;
};

TEST_F(OccupancyOfTheDriver, EqualsOursForEveryBlockSharedMemoryAndCluster) {
  for (const char* registers : {"", "__maxnreg__(40)", "__maxnreg__(104)", "__maxnreg__(200)"}) {
    const CompiledKernel kernel = compiled(saxpy_unit(
        "float v[96]; for (int j = 0; j < 96; ++j) v[j] = x[(i + j) % n];\n"
        "__syncthreads(); float s = 0; for (int j = 0; j < 96; ++j) s += v[j] * v[95 - j] + y[j];\n"
        "if (i < n) out[i] = a * s;",
        registers));
    if (kernel.outcome != Outcome::ok) continue;
    for (const int threads : {32, 96, 128, 160, 256, 288, 512, 992, 1024}) {
      for (const int shared : {0, 1000, 8 << 10, 33 << 10, 64 << 10, 113 << 10, 227 << 10}) {
        if (shared > gpu().sm.shared_bytes_per_block) continue;
        for (int cluster = 1; cluster <= gpu().sm.max_cluster; ++cluster) {
          Launch launch = saxpy_plan(1 << 20, threads).launches[0];
          launch.grid.x = 1024 * cluster;
          launch.cluster.x = cluster;
          launch.dynamic_shared_bytes = shared;
          compare(kernel, kernel.resources[0], launch);
        }
      }
    }
  }
  EXPECT_GT(compared_, 0);
}

}  // namespace
}  // namespace autotune
