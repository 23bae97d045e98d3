// SPDX-License-Identifier: Apache-2.0
// Kernels with a chosen time: spinning on the clock, rounds of work, streaming memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "tuner/core/device.hpp"

namespace autotune {

/// What two measurements of one kernel may be apart, in seconds (docs/measuring.md): in new
/// buffers, or in another process.
inline double allowed_apart(double seconds) {
  return seconds >= 10e-6 ? 0.01 * seconds : std::max(0.02 * seconds, 0.1e-6);
}

/// Two arrays on a GPU; candidates are valid until reopen() or the end.
class TimedKernels {
 public:
  explicit TimedKernels(Device& device)
      : device_(device), kernel_(device.compile(source())), bench_(device.open(workload())) {}

  const DeviceInfo& info() const { return device_.info(); }

  /// Allocates the buffers again.
  void reopen() {
    bench_.reset();
    bench_ = device_.open(workload());
  }

  /// One block per SM spins for this many cycles of the SM clock.
  std::unique_ptr<Candidate> spin(std::int64_t cycles) { return load(plan("spin", cycles, 32)); }

  /// Dependent FMAs in every thread; the time is linear in `rounds`, about 2 ns each.
  std::unique_ptr<Candidate> work(std::int64_t rounds) { return load(plan("work", rounds, 256)); }

  /// y = 2 x over all elements: bound by memory, or by the L2 cache.
  std::unique_ptr<Candidate> stream() {
    LaunchPlan stream_plan = plan("stream", kElements, 256);
    stream_plan.launches[0].grid = {kElements / 1024, 1, 1};
    return load(stream_plan);
  }

 private:
  static constexpr std::int64_t kElements = 1 << 20;

  static SourceUnit source() {
    SourceUnit unit;
    unit.name = "timed_kernels.cu";
    unit.entries = {"spin", "work", "stream"};
    unit.text = R"(
extern "C" __global__ void spin(const float* x, float* y, long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
  if (x[0] == 12345.f) y[0] = 1;
}
extern "C" __global__ void work(const float* x, float* y, long long rounds) {
  float sum = x[threadIdx.x];
  for (int round = 0; round < (int)rounds; ++round) sum = fmaf(sum, 0.999f, 0.5f);
  y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
extern "C" __global__ void stream(const float* x, float* y, long long n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const float4 v = *(const float4*)(x + first);
  if (first < n) *(float4*)(y + first) = make_float4(2 * v.x, 2 * v.y, 2 * v.z, 2 * v.w);
}
)";
    return unit;
  }

  LaunchPlan plan(const std::string& entry, std::int64_t number, std::int64_t threads) const {
    Launch launch;
    launch.entry = entry;
    launch.grid = {info().multiprocessors, 1, 1};
    launch.block = {threads, 1, 1};
    launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i64, number, 0}};
    return {{}, {launch}};
  }

  Workload workload() const {
    Workload workload;
    workload.problem = "timed kernels";
    workload.buffers = {{"x", ElementType::f32, kElements, Role::input, Fill::random, 0},
                        {"y", ElementType::f32, kElements, Role::unchecked}};
    workload.reference_source = source();
    workload.reference = plan("stream", kElements, 256);
    workload.reference.launches[0].grid = {kElements / 1024, 1, 1};
    workload.float64_outputs = false;
    return workload;
  }

  std::unique_ptr<Candidate> load(const LaunchPlan& plan) { return bench_->load(kernel_, plan); }

  Device& device_;
  CompiledKernel kernel_;
  std::unique_ptr<Workbench> bench_;
};

}  // namespace autotune
