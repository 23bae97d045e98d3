// SPDX-License-Identifier: Apache-2.0
// What compiling in processes costs, against compiling in this one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/compile_rate.hpp"
#include "tests/support/how_often.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/worker/compiler_processes.hpp"

namespace autotune {
namespace {

#if AUTOTUNE_WITH_CUDA

struct Cost {
  double cpu = 0, wall = 0;
};

unsigned cores() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Compiles variants first..first+count-1 on all cores.
void compile_all(CompilerRunner& runner, int first, int count) {
  std::atomic<int> next = first;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < cores(); ++i) {
    threads.emplace_back([&] {
      for (int n = next++; n < first + count; n = next++) {
        const Build build = runner.run(nvrtc_task(tile_variant(n), 90));
        EXPECT_TRUE(build.binary) << build.log;
      }
    });
  }
}

template <class Work>
void add_cost(Cost& cost, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const double before = cpu_seconds();
  work();
  cost.cpu += cpu_seconds() - before;
  cost.wall += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// $AUTOTUNE_TEST_COMPILES sources each. They take turns: other programs may use the machine too.
TEST(CompileRate, ProcessesCostLittleMoreThanThisOne) {
  const int count = testing::how_often("AUTOTUNE_TEST_COMPILES", 40, 20);
  const int turns = std::max(4, count / 50);
  const auto this_process = nvrtc_in_this_process();
  auto processes = std::make_unique<CompilerProcesses>(60);
  compile_all(*this_process, -1, 1);  // loads NVRTC
  Cost one, many;
  for (int turn = 0; turn < turns; ++turn) {
    const int first = turn * count / turns, size = (turn + 1) * count / turns - first;
    add_cost(one, [&] { compile_all(*this_process, first, size); });
    add_cost(many, [&] { compile_all(*processes, first, size); });
  }
  add_cost(many, [&] { processes.reset(); });  // their time counts once they have ended
  const auto more = [](double other, double than) { return 100 * (other / than - 1); };
  std::printf(
      "figure | %d sources, NVRTC %s, %u threads | in this process %.2f s, %.2f s of CPU; in "
      "processes %.2f s (%+.1f %%), %.2f s of CPU (%+.1f %%) | <= 5 %%\n",
      count, nvrtc_version().c_str(), cores(), one.wall, one.cpu, many.wall,
      more(many.wall, one.wall), many.cpu, more(many.cpu, one.cpu));
  // A few sources do not make up for the start of the processes.
  EXPECT_LT(many.cpu, (count < 200 ? 1.5 : 1.05) * one.cpu);
}

#endif

}  // namespace
}  // namespace autotune
