// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/calibration.hpp"

#include <algorithm>
#include <future>

#include "tuner/model/occupancy.hpp"

namespace autotune {
namespace {

/// CUDA kernels of calibrate(). Each takes (const int* zeros, float* out, int count). `zeros` holds
/// zeros, which the compiler cannot know.
constexpr const char* kCalibrationKernels = R"(
#define KERNEL extern "C" __global__ void __launch_bounds__(1024)

// 8 independent chains of `count` x 16 multiply-adds a thread.
KERNEL fma_rate(const int* zeros, float* out, int count) {
  float sum[8], x = 1.0f + zeros[0], y = zeros[1];
  for (int i = 0; i < 8; ++i) sum[i] = threadIdx.x + i;
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 128; ++i) sum[i % 8] = sum[i % 8] * x + y;
  }
  float all = 0;
  for (int i = 0; i < 8; ++i) all += sum[i];
  if (all == -1.0f) out[0] = all;
}

// Copies the first half of `count` 16-byte pieces of out over the second half.
KERNEL copy_rate(const int* zeros, float* out, int count) {
  float4* pieces = reinterpret_cast<float4*>(out);
  const int half = count / 2;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < half; i += gridDim.x * blockDim.x) {
    pieces[half + i] = pieces[i];
  }
}

// Each thread reads `count` x 8 pieces of 16 bytes, past L1, from 8 MiB.
KERNEL l2_rate(const int* zeros, float* out, int count) {
  const int4* pieces = reinterpret_cast<const int4*>(zeros);
  const int mask = (8 << 20) / 16 - 1;
  int at = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int4 piece = __ldcg(&pieces[at & mask]);
      sum += piece.x + piece.y + piece.z + piece.w;
      at += gridDim.x * blockDim.x;
    }
  }
  if (sum == -1) out[0] = sum;
}

// `count` dependent loads within 4 MiB: each address comes from the previous value. The final
// comparison may hold, so the compiler keeps the loop.
KERNEL l2_latency(const int* zeros, float* out, int count) {
  unsigned at = 1;
  for (int n = 0; n < count; ++n) at = (at * 1664525u + 1013904223u + __ldcg(&zeros[at])) & 0xfffff;
  if (at == 12345u) out[0] = at;
}

// The same within the 256 MiB of out, whatever it holds. out[0] keeps the last address: a launch
// that started at the same place again would hit L2.
KERNEL dram_latency(const int* zeros, float* out, int count) {
  int* values = reinterpret_cast<int*>(out);
  unsigned at = values[0] & 0x3ffffff;
  for (int n = 0; n < count; ++n) {
    at = (at * 1664525u + 1013904223u + (__ldcg(&values[at]) & zeros[0])) & 0x3ffffff;
  }
  values[0] = at;
}

// Each warp makes `count` x 16 passes through shared memory without bank conflicts.
KERNEL shared_rate(const int* zeros, float* out, int count) {
  __shared__ volatile float values[1024 + 512];
  values[threadIdx.x] = zeros[0];
  __syncthreads();
  float sum[4] = {};
  for (int n = 0; n < count; ++n) {
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i % 4] += values[threadIdx.x + 32 * i];
  }
  if (sum[0] + sum[1] + sum[2] + sum[3] == -1.0f) out[0] = sum[0];
}

KERNEL barrier_rate(const int* zeros, float* out, int count) {
  for (int n = 0; n < count; ++n) __syncthreads();
  if (zeros[0] == 1) out[0] = 1;
}
)";

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
  /// Compiles while the device opens.
  explicit Bench(Device& device) {
    auto compiled = std::async(std::launch::async, [&] { return device.compile(kernels()); });
    bench_ = device.open(workload());
    compiled_ = compiled.get();
  }

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
