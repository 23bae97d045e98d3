// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/bench_kernels.hpp"

#include "tuner/core/error.hpp"

namespace autotune::bench {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksAProcessor = 4;
constexpr double kFlopsARound = 2.0 * 16 * 16;  // of one thread of `ffma`

constexpr const char* kSource = R"(
typedef unsigned long long u64;
typedef long long i64;

#define FOR_EACH(i, count)                                                  \
  for (i64 i = blockIdx.x * i64(blockDim.x) + threadIdx.x; i < (count);     \
       i += i64(gridDim.x) * blockDim.x)

// Odd multiples of 2^-23, from the finalizer of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
extern "C" __global__ void fill(float* to, i64 count) {
  FOR_EACH(i, count) {
    u64 x = u64(i + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    x ^= x >> 31;
    to[i] = float(i64(x >> 41) * 2 + 1 - (1 << 23)) * (1.0f / (1 << 23));
  }
}

extern "C" __global__ void make_absolute(float* values, i64 count) {
  FOR_EACH(i, count) values[i] = fabsf(values[i]);
}

__device__ void add(double* to, double value) {
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(~0u, value, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(to, value);
}

extern "C" __global__ void add_squares(const float* got, const double* right, i64 count,
                                       double* sums) {
  double difference = 0, size = 0;
  FOR_EACH(i, count) {
    const double d = double(got[i]) - right[i];
    difference += d * d;
    size += right[i] * right[i];
  }
  __syncwarp();
  add(sums, difference);
  add(sums + 1, size);
}

// Sixteen independent sums a thread, 256 FFMAs a round.
extern "C" __global__ void ffma(float* out, float a, float b, int rounds) {
  float x[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) x[i] = float(threadIdx.x + i);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 16; ++step) {
#pragma unroll
      for (int i = 0; i < 16; ++i) x[i] = fmaf(x[i], a, b);
    }
  }
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) sum += x[i];
  if (sum == 12345.0f) out[0] = sum;  // never, but the compiler cannot know
}
)";

SourceUnit source() {
  return {
      "bench_kernels.cu", "", kSource, {}, {}, {"fill", "make_absolute", "add_squares", "ffma"}};
}

std::string compiled(const CubinCompiler& compiler) {
  const CompiledKernel kernel = compiler.compile(source());
  if (kernel.outcome != Outcome::ok) {
    throw Error("the benchmark's own kernels do not compile with this NVRTC: " + kernel.log);
  }
  return *kernel.binary;
}

}  // namespace

BenchKernels::BenchKernels(const CudaContext& context)
    : context_(context), cubin_(compiled(context.compiler)) {}

template <class... Values>
void BenchKernels::launch(const char* kernel, cudaStream_t stream, int blocks,
                          Values... values) const {
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(blocks);
  config.blockDim.x = kThreads;
  config.stream = stream;
  void* arguments[] = {&values...};
  check_kernel(cudaLaunchKernelExC(&config, cubin_.kernel(kernel), arguments), kernel);
}

void BenchKernels::fill(float* to, std::int64_t count) const {
  launch("fill", context_.stream.get(), context_.info.multiprocessors * 8, to, count);
}

void BenchKernels::make_absolute(float* values, std::int64_t count) const {
  launch("make_absolute", context_.stream.get(), context_.info.multiprocessors * 8, values, count);
}

void BenchKernels::add_squares(const float* got, const double* right, std::int64_t count,
                               SquareSums* sums) const {
  launch("add_squares", context_.stream.get(), context_.info.multiprocessors * 2, got, right, count,
         &sums->difference);
}

double BenchKernels::ffma(cudaStream_t stream, int rounds) const {
  const int blocks = context_.info.multiprocessors * kBlocksAProcessor;
  float* const out = nullptr;
  launch("ffma", stream, blocks, out, 0.999f, 0.5f, rounds);
  return kFlopsARound * kThreads * blocks * rounds;
}

}  // namespace autotune::bench
