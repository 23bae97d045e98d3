// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/compiler_processes.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <future>
#include <thread>

#include "tests/support/how_often.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/processes.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/nvrtc.hpp"
#include "tuner/host/process.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Compilers that are shell scripts, in a folder that they also write to.
class CompilerProcessesTest : public testing::Test {
 protected:
  /// `script` is run as a compiler: $out is its output, $here the folder.
  CompileTask task(const std::string& script) {
    const fs::path program = folder_.path() / ("compiler" + std::to_string(++count_));
    std::ofstream(program)
        << "#!/bin/bash\nhere=" << folder_.path().string()
        << "\nwhile [ $# -gt 0 ]; do case $1 in -o) out=$2;; -MF) rule=$2;; "
           "esac; shift; done\n"
           "succeed() { echo binary > $out; echo \"$out: kernel.cpp\" > $rule; }\n"
        << script << '\n';
    fs::permissions(program, fs::perms::owner_all);
    return {program.string(), "k.cu", "int k;", {}};
  }

  std::string text_of(const std::string& name) const {
    std::ifstream file(folder_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Waits for a file to hold a line and returns it.
  std::string line_of(const std::string& name) const {
    for (int i = 0; i < 3000 && !text_of(name).ends_with('\n'); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    return text_of(name);
  }

  const TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(CompilerProcessesTest, OneProcessCompilesOneSourceAfterTheOther) {
  CompilerProcesses processes(60);
  const CompileTask which = task("echo $PPID; succeed");
  const Build one = processes.run(which), other = processes.run(which);
  ASSERT_TRUE(one.binary) << one.log;
  EXPECT_EQ(*one.binary, "binary\n");
  EXPECT_EQ(one.log, other.log);
  EXPECT_EQ(processes.run(task("echo \"k.cu:1:1: error: no\"; exit 1")).log,
            "k.cu:1:1: error: no\n");
}

TEST_F(CompilerProcessesTest, CompilersStandBackForWhatMeasures) {
  CompilerProcesses processes(60);
  const Build build = processes.run(task("nice > $here/niceness; succeed"));
  ASSERT_TRUE(build.binary) << build.log;
  const int own = getpriority(PRIO_PROCESS, 0);
  if (own >= 19) GTEST_SKIP() << "this process stands back as far as one can";
  EXPECT_GT(std::stoi(text_of("niceness")), own);
}

TEST_F(CompilerProcessesTest, ACompilerThatHangsIsKilledWithAllThatItStarted) {
  CompilerProcesses processes(1);
  const Build build = processes.run(task("sleep 100 & echo $! > $here/child; sleep 100"));
  EXPECT_TRUE(build.late);
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("k.cu: error: compiling took more than 1 s"));
  EXPECT_TRUE(is_gone(std::stoi(text_of("child"))));
  EXPECT_TRUE(processes.run(task("succeed")).binary) << "in another process";
}

/// The shell's parent is the worker.
TEST_F(CompilerProcessesTest, AProcessThatIsKilledByOthersIsTriedAgain) {
  CompilerProcesses processes(60);
  const Build build = processes.run(
      task("if [ -e $here/second ]; then succeed; else touch $here/second; kill -9 $PPID; fi"));
  EXPECT_TRUE(build.binary) << build.log;
}

TEST_F(CompilerProcessesTest, WhatTheMachineLacksIsNoFaultOfTheSource) {
  CompilerProcesses processes(60);
  const CompileTask killed = task("kill -9 $PPID");
  const CompileTask starved = task("echo 'ld terminated with signal 9 [Killed]'; exit 1");
  EXPECT_THROW(processes.run(killed), NotCompiled);
  EXPECT_THROW(processes.run(starved), NotCompiled);
  EXPECT_TRUE(processes.run(task("succeed")).binary);
  for (int i = 0; i < 4; ++i) EXPECT_THROW(processes.run(starved), NotCompiled);
  try {
    processes.run(starved);
    FAIL();
  } catch (const NotCompiled&) {
    FAIL() << "five in a row";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("5 kernels in a row could not be compiled here"));
  }
}

TEST_F(CompilerProcessesTest, ACrashOfTheProcessIsTheSources) {
  CompilerProcesses processes(60);
  const Build build = processes.run(task("kill -SEGV $PPID"));
  EXPECT_FALSE(build.binary);
  EXPECT_FALSE(build.keep);
  EXPECT_THAT(build.log, HasSubstr("k.cu: error: the compiler crashed on it: signal 11"));
}

TEST_F(CompilerProcessesTest, StoppingEndsWhatRuns) {
  CompilerProcesses processes(60);
  auto running = std::async(std::launch::async, [&] {
    return processes.run(task("sleep 100 & echo $! > $here/child; sleep 100"));
  });
  const pid_t child = std::stoi(line_of("child"));
  processes.stop();
  EXPECT_THROW(running.get(), NotCompiled);
  EXPECT_TRUE(is_gone(child));
  EXPECT_THROW(processes.run(task("succeed")), NotCompiled);
}

TEST_F(CompilerProcessesTest, PausedNothingRunsAndNoTimePasses) {
  CompilerProcesses processes(2);
  auto running = std::async(std::launch::async, [&] {
    return processes.run(
        task("echo begun > $here/begun\n"
             "while [ ! -e $here/go ]; do echo x >> $here/steps; done; succeed"));
  });
  line_of("begun");
  line_of("steps");
  {
    const CompilerProcesses::Pause pause(processes);
    std::this_thread::sleep_for(milliseconds(200));  // it may be in the kernel
    const std::string before = text_of("steps");
    std::this_thread::sleep_for(seconds(3));
    EXPECT_EQ(text_of("steps"), before);
  }
  std::ofstream(folder_.path() / "go");
  EXPECT_TRUE(running.get().binary);
}

TEST_F(CompilerProcessesTest, ItsFoldersGoWithIt) {
  std::string folder;
  {
    CompilerProcesses processes(60);
    folder = processes.run(task("echo -n $TMPDIR; succeed")).log;
    EXPECT_TRUE(fs::exists(folder));
  }
  EXPECT_FALSE(fs::exists(folder));
}

#if AUTOTUNE_WITH_CUDA

TEST_F(CompilerProcessesTest, NvrtcSaysWhichFilesItRead) {
  std::ofstream(folder_.path() / "value.cuh") << "#include \"other.cuh\"\n";
  std::ofstream(folder_.path() / "other.cuh") << "#define VALUE 1\n";
  CompilerProcesses processes(60);
  const SourceUnit unit{"k.cu",           "", "#define H <value.cuh>\n#include H\nint a = VALUE;",
                        {folder_.path()}, {}, {}};
  for (int i = 0; i < 2; ++i) {
    const Build build = processes.run(nvrtc_task(unit, 90));
    ASSERT_TRUE(build.binary) << build.log;
    ASSERT_TRUE(build.read);
    EXPECT_THAT(*build.read,
                ElementsAre(folder_.path() / "value.cuh", folder_.path() / "other.cuh"));
  }
}

TEST_F(CompilerProcessesTest, ASourceNestedTooDeepForNvrtcCostsItsProcessOnly) {
  const auto nested = [](std::size_t depth) {
    return SourceUnit{"k.cu",
                      "",
                      "extern \"C\" __global__ void k(int* a) { *a = " + std::string(depth, '(') +
                          "*a" + std::string(depth, ')') + "; }",
                      {},
                      {},
                      {"k"}};
  };
  CompilerProcesses processes(60);
  EXPECT_TRUE(processes.run(nvrtc_task(nested(4000), 90)).binary);
  const Build build = processes.run(nvrtc_task(nested(1'000'000), 90));
  EXPECT_FALSE(build.binary);
  EXPECT_THAT(build.log, HasSubstr("the compiler crashed on it: signal 11"));
  EXPECT_TRUE(processes.run(nvrtc_task(nested(1), 90)).binary);
}

#endif

// What compiling in processes costs, against compiling in this one.

#if AUTOTUNE_WITH_CUDA

struct Cost {
  double cpu = 0, wall = 0;
};

/// A tile of a matrix product; each number gives a different source.
SourceUnit tile_variant(int number) {
  SourceUnit unit;
  unit.name = "tile.cu";
  unit.prelude = format("#define TM {}\n#define VARIANT {}\n", 2 + number % 7, number);
  unit.text = R"(
extern "C" __global__ void tile(int n, const float* a, const float* b, float* c) {
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
})";
  unit.entries = {"tile"};
  return unit;
}

/// CPU time of this process and of its children that were waited for.
double cpu_seconds() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& time : {usage.ru_utime, usage.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    }
  }
  return sum;
}

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
