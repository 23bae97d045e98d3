// SPDX-License-Identifier: Apache-2.0
// NVRTC on all cores of a machine that has a GPU.
#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "tests/gpu/gpu_fixture.hpp"

namespace autotune {
namespace {

class CompileRate : public Gpu {};

SourceUnit variant(int number) {
  SourceUnit unit = unit_of(R"(
extern "C" __global__ void kernel(int n, const float* a, const float* b, float* c) {
  __shared__ float as[16][64], bs[16][64];
  float sums[TM][4] = {};
  for (int k = 0; k < n; k += 16) {
    for (int t = threadIdx.x; t < 1024; t += blockDim.x) {
      as[t / 64][t % 64] = a[(k + t / 64) * n + blockIdx.y * 64 + t % 64];
      bs[t / 64][t % 64] = b[(k + t / 64) * n + blockIdx.x * 64 + t % 64];
    }
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 16; ++j)
#pragma unroll
      for (int m = 0; m < TM; ++m)
#pragma unroll
        for (int q = 0; q < 4; ++q)
          sums[m][q] += as[j][threadIdx.x / 16 * TM % 64 + m] * bs[j][threadIdx.x % 16 * 4 + q];
    __syncthreads();
  }
  for (int m = 0; m < TM; ++m)
    for (int q = 0; q < 4; ++q)
      c[(blockIdx.y * 64 + threadIdx.x / 16 * TM + m) * n + blockIdx.x * 64 + q + VARIANT] = sums[m][q];
})");
  unit.prelude = format("#define TM {}\n#define VARIANT {}\n", 2 + number % 7, number);
  return unit;
}

TEST_F(CompileRate, SixteenThreadsKeepEightCoresBusyAndASecondRunCompilesNothing) {
  if (std::thread::hardware_concurrency() < 16) GTEST_SKIP() << "fewer than 16 cores";
  constexpr int kVariants = 500;
  const auto run = [&](std::atomic<int>& cached) {
    std::atomic<int> next{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = next++; i < kVariants; i = next++) {
          const CompiledKernel kernel = device().compile(variant(i));
          EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
          cached += kernel.cached;
        }
      });
    }
    for (auto& thread : threads) thread.join();
  };
  for (const bool warm : {false, true}) {
    std::atomic<int> cached{0};
    const std::clock_t before = std::clock();
    const auto start = std::chrono::steady_clock::now();
    run(cached);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double busy = static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC / seconds;
    EXPECT_EQ(cached, warm ? kVariants : 0);
    figure(format("500 variants, 16 threads, {} cache", warm ? "warm" : "cold"),
           format("{:.2f} s, {:.1f} cores busy", seconds, busy), warm ? "" : ">= 8 busy");
    if (!warm) {
      EXPECT_GE(busy, 8);
    }
  }
}

}  // namespace
}  // namespace autotune
