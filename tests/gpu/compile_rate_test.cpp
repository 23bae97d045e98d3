// SPDX-License-Identifier: Apache-2.0
// Compile processes on all cores of a machine that has a GPU.
#include "tests/support/compile_rate.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/worker/worker_device.hpp"

namespace autotune {
namespace {

class CompileRate : public Gpu {};

constexpr int kVariants = 500;

/// Compiles them all on 16 threads; returns how many were in the cache.
int compile_variants(const std::filesystem::path& cache) {
  const auto device = make_worker_device("cuda:0", std::make_shared<BuildCache>(cache));
  std::atomic<int> next = 0, cached = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      for (int i = next++; i < kVariants; i = next++) {
        const CompiledKernel kernel = device->compile(tile_variant(i));
        EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
        cached += kernel.cached;
      }
    });
  }
  threads.clear();
  return cached;
}

TEST_F(CompileRate, SixteenThreadsKeepEightCoresBusyAndASecondRunCompilesNothing) {
  if (std::thread::hardware_concurrency() < 16) GTEST_SKIP() << "fewer than 16 cores";
  for (const bool warm : {false, true}) {
    const double before = cpu_seconds();  // the processes end with the device
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(compile_variants(folder() / "rate"), warm ? kVariants : 0);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double busy = (cpu_seconds() - before) / seconds;
    figure(format("500 variants, 16 threads, {} cache", warm ? "warm" : "cold"),
           format("{:.2f} s, {:.1f} cores busy", seconds, busy), warm ? "" : ">= 8 busy");
    if (!warm) {
      EXPECT_GE(busy, 8);
    }
  }
}

}  // namespace
}  // namespace autotune
