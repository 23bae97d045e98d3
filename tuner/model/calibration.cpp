// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/calibration.hpp"

#include <algorithm>
#include <vector>

#include "tuner/model/calibration_kernels.hpp"
#include "tuner/model/cluster_groups.hpp"

namespace autotune {
namespace {

constexpr int kBatches = 5;
constexpr std::int64_t kZeros = (8 << 20) / 4;             // ints
constexpr std::int64_t kScratch = std::int64_t{64} << 20;  // floats: 256 MiB
constexpr int kThreads = 1024;

Workload workload() {
  Workload workload;
  workload.problem = "calibration";
  workload.buffers = {{.name = "zeros",
                       .type = ElementType::i32,
                       .length = kZeros,
                       .role = Role::input,
                       .fill = Fill::zero}};
  workload.reference_source = {.name = "nothing.cu",
                               .prelude = "",
                               .text = "extern \"C\" __global__ void nothing() {}\n",
                               .include_folders = {},
                               .options = {},
                               .entries = {"nothing"}};
  return workload;
}

SourceUnit kernels() {
  return {.name = "calibration.cu",
          .prelude = "",
          .text = kCalibrationKernels,
          .include_folders = {},
          .options = {},
          .entries = {"fma_rate", "copy_rate", "l2_rate", "l2_latency", "dram_latency",
                      "shared_rate", "barrier_rate"}};
}

class Bench {
 public:
  Bench(Device& device) : compiled_(device.compile(kernels())), bench_(device.open(workload())) {}

  /// Seconds of one launch, the median of a few; 0 when it does not run.
  double seconds(const char* entry, std::int64_t blocks, int threads, int count) {
    if (compiled_.outcome != Outcome::ok) return 0;
    try {
      const auto candidate = bench_->load(compiled_, plan(entry, blocks, threads, count));
      candidate->time(1, L2State::hot);
      std::vector<double> times;
      for (int i = 0; i < kBatches; ++i) times.push_back(candidate->time(2, L2State::hot).seconds);
      std::sort(times.begin(), times.end());
      return times[kBatches / 2];
    } catch (const KernelFailure&) {
      return 0;
    }
  }

  double launch_floor() { return bench_->launch_floor(); }

  /// Clusters that the driver holds at once with `blocks` on each multiprocessor; -1 when unknown.
  int resident_clusters(Device& device, const Multiprocessor& sm, int cluster, int blocks) {
    if (compiled_.outcome != Outcome::ok) return -1;
    Launch launch = plan("barrier_rate", 1024 * cluster, kThreads / 16, 0).launches.front();
    const std::int64_t share = sm.shared_bytes / blocks - sm.reserved_shared_bytes;
    launch.dynamic_shared_bytes = share / 1024 * 1024;
    try {
      if (device.active_blocks(compiled_, launch) != blocks) return -1;
      launch.cluster.x = cluster;
      return device.active_blocks(compiled_, launch).value_or(-1);
    } catch (const KernelFailure&) {
      return -1;
    }
  }

 private:
  static LaunchPlan plan(const char* entry, std::int64_t blocks, int threads, int count) {
    Launch launch;
    launch.entry = entry;
    launch.grid.x = blocks;
    launch.block.x = threads;
    launch.arguments = {BufferRef{0}, BufferRef{1}, Scalar{ElementType::i32, count, 0}};
    return {.workspace = {{.name = "scratch",
                           .type = ElementType::f32,
                           .length = kScratch,
                           .role = Role::workspace}},
            .launches = {launch}};
  }

  CompiledKernel compiled_;
  std::unique_ptr<Workbench> bench_;
};

/// Seconds of a launch with count `more`, less those with `few`: constant costs cancel.
double beyond(Bench& bench, const char* entry, std::int64_t blocks, int threads, int few,
              int more) {
  const double less = bench.seconds(entry, blocks, threads, few);
  const double all = bench.seconds(entry, blocks, threads, more);
  return less > 0 && all > 0 ? all - less : 0;
}

void take(Calibration& calibration, double Calibration::*field, double value) {
  for (const CalibrationField& known : kCalibrationFields) {
    const bool believable = value >= known.low && value <= known.high;
    if (known.value == field && believable) calibration.*field = value;
  }
}

}  // namespace

GpuSpec calibrated(GpuSpec gpu, const Calibration& calibration) {
  if (!calibration.cluster_groups.empty()) gpu.cluster_groups = calibration.cluster_groups;
  return gpu;
}

Calibration calibrate(Device& device) {
  const GpuSpec gpu = gpu_spec(device.info());
  const std::int64_t sms = gpu.multiprocessors;
  const double all = static_cast<double>(sms);
  const double clock = gpu.clock_hz;
  Bench bench(device);
  Calibration result;

  const double fma = beyond(bench, "fma_rate", sms, kThreads, 100, 500);
  take(result, &Calibration::fma_share,
       2.0 * 128 * 400 * kThreads * all / fma / gpu.flops_per_second());
  const int pieces = static_cast<int>(kScratch / 4);
  const double copy = bench.seconds("copy_rate", 8 * sms, kThreads / 2, pieces);
  take(result, &Calibration::dram_share, 16.0 * pieces / copy / gpu.memory_bytes_per_second);
  const double l2 = beyond(bench, "l2_rate", 2 * sms, kThreads, 10, 50);
  take(result, &Calibration::l2_bytes_per_cycle, 16.0 * 8 * 40 * 2 * kThreads / (l2 * clock));
  const double shared = beyond(bench, "shared_rate", sms, kThreads, 100, 500);
  take(result, &Calibration::shared_cycles, shared * clock / (16.0 * 400 * kThreads / 32));
  take(result, &Calibration::launch_seconds, bench.launch_floor());
  const double hit = beyond(bench, "l2_latency", 1, 1, 500, 1500);
  take(result, &Calibration::l2_latency_cycles, hit * clock / 1000);
  const double miss = beyond(bench, "dram_latency", 1, 1, 500, 1500);
  take(result, &Calibration::dram_latency_cycles, miss * clock / 1000);
  const double barrier = beyond(bench, "barrier_rate", sms, 256, 1000, 3000);
  take(result, &Calibration::barrier_cycles, barrier * clock / 2000);
  result.cluster_groups = cluster_groups(gpu.sm.max_cluster, [&](int cluster, int blocks) {
    return bench.resident_clusters(device, gpu.sm, cluster, blocks);
  });
  return result;
}

}  // namespace autotune
