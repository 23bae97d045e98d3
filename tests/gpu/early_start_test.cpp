// SPDX-License-Identifier: Apache-2.0
// Which launches start before the kernel ahead has ended: the edges of captured graphs.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "bench/gemm/graph_edges.hpp"
#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/on_device.hpp"

namespace autotune {
namespace {

using bench::GraphEdges;

constexpr int kMemory = 1 << 16;

/// Each launch of `add` adds 1 to every element, after a while. `early` follows the rules of
/// kernels that start early.
constexpr const char* kSource = R"(
__device__ void add_one(float* x) {
  for (const long long start = clock64(); clock64() - start < 20000;) {}
  x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
extern "C" __global__ void early(float* x) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  add_one(x);
}
extern "C" __global__ void ordinary(float* x) { add_one(x); }
)";

class EarlyStartTest : public Gpu {
 protected:
  void SetUp() override {
    Gpu::SetUp();
    if (IsSkipped()) return;
    if (device().info().compute_capability < 90) GTEST_SKIP() << "early starts came with 9.0";
    kernel_ = compiled(unit_of(kSource, {"early", "ordinary"}));
    stream_ = make_stream();
    memory_ = DeviceMemory(kMemory * std::int64_t{sizeof(float)});
    clear();
  }

  std::unique_ptr<PreparedKernel> prepared(const std::vector<std::string>& entries,
                                           EarlyStart early = EarlyStart::captured) {
    LaunchPlan plan;
    for (const std::string& entry : entries) {
      Launch launch;
      launch.entry = entry;
      launch.grid.x = kMemory / 256;
      launch.block.x = 256;
      launch.arguments = {BufferRef{0}};
      launch.starts_early = entry == "early";
      plan.launches.push_back(launch);
    }
    const BufferSpec x{"x", ElementType::f32, kMemory, Role::output, Fill::random, 0, {}};
    return std::make_unique<PreparedKernel>(0, *kernel_.binary, plan, std::vector{x}, early);
  }

  void launch(const std::unique_ptr<PreparedKernel>& kernel) {
    void* const addresses[] = {memory_.get()};
    kernel->launch(addresses, {}, stream_.get());
  }

  void clear() {
    ASSERT_EQ(cudaMemsetAsync(memory_.get(), 0, kMemory * sizeof(float), stream_.get()),
              cudaSuccess);
  }

  /// The edges of what `work` launches. Runs it once as a graph.
  GraphEdges captured(const std::function<void()>& work) {
    EXPECT_EQ(cudaStreamBeginCapture(stream_.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    work();
    cudaGraph_t made = nullptr;
    EXPECT_EQ(cudaStreamEndCapture(stream_.get(), &made), cudaSuccess);
    const Graph graph(made);
    cudaGraphExec_t executable = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&executable, graph.get(), 0), cudaSuccess);
    const GraphExec exec(executable);
    clear();
    EXPECT_EQ(cudaGraphLaunch(exec.get(), stream_.get()), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    return bench::edges_of(graph.get());
  }

  /// Every element, which must be one value.
  float result() {
    std::vector<float> got(kMemory);
    EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
    EXPECT_EQ(
        cudaMemcpy(got.data(), memory_.get(), got.size() * sizeof(float), cudaMemcpyDeviceToHost),
        cudaSuccess);
    EXPECT_EQ(got, std::vector<float>(kMemory, got.front()));
    return got.front();
  }

  CompiledKernel kernel_;
  Stream stream_;
  DeviceMemory memory_;
};

TEST_F(EarlyStartTest, CapturedCallsInARowHaveProgrammaticEdges) {
  const auto kernel = prepared({"early"}), another = prepared({"early"});
  const GraphEdges edges = captured([&] {
    for (int i = 0; i < 3; ++i) launch(kernel);
    launch(another);
  });
  EXPECT_EQ(edges, (GraphEdges{0, 3}));
  EXPECT_EQ(result(), 4);
}

TEST_F(EarlyStartTest, BehindAMemsetACallStartsInOrder) {
  const auto kernel = prepared({"early"});
  const GraphEdges edges = captured([&] {
    launch(kernel);
    clear();
    launch(kernel);
  });
  EXPECT_EQ(edges, (GraphEdges{2, 0}));
  EXPECT_EQ(result(), 1);
}

TEST_F(EarlyStartTest, BesideAKernelThatKnowsNothingOfItACallStartsInOrder) {
  const auto kernel = prepared({"early"}), foreign = prepared({"ordinary"});
  const GraphEdges edges = captured([&] {
    launch(foreign);
    launch(kernel);
    launch(foreign);
    launch(kernel);
  });
  EXPECT_EQ(edges, (GraphEdges{3, 0}));
  EXPECT_EQ(result(), 4);
}

TEST_F(EarlyStartTest, BehindTwoStreamsThatMeetACallStartsInOrder) {
  const auto kernel = prepared({"early"});
  const Stream side = make_stream();
  const Event forked = make_event(), joined = make_event();
  const GraphEdges edges = captured([&] {
    launch(kernel);
    EXPECT_EQ(cudaEventRecord(forked.get(), stream_.get()), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(side.get(), forked.get(), 0), cudaSuccess);
    const DeviceMemory* const memory = &memory_;
    EXPECT_EQ(cudaMemsetAsync(memory->get(), 0, kMemory * sizeof(float), side.get()), cudaSuccess);
    EXPECT_EQ(cudaEventRecord(joined.get(), side.get()), cudaSuccess);
    EXPECT_EQ(cudaStreamWaitEvent(stream_.get(), joined.get(), 0), cudaSuccess);
    launch(kernel);
  });
  EXPECT_EQ(edges.programmatic, 0);
  EXPECT_EQ(result(), 1);
}

/// A call of several kernels knows both ends of the edges between them, whatever is ahead.
TEST_F(EarlyStartTest, WithinACallItIsThePlansBusiness) {
  const auto kernel = prepared({"ordinary", "early", "early"});
  const GraphEdges edges = captured([&] {
    launch(kernel);
    launch(kernel);
  });
  EXPECT_EQ(edges, (GraphEdges{1, 4}));
  EXPECT_EQ(result(), 6);
}

/// A kernel of one capture is not taken for one of the next, which may lie at the same address.
TEST_F(EarlyStartTest, EachCaptureStartsAnew) {
  const auto kernel = prepared({"early"}), foreign = prepared({"ordinary"});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(captured([&] {
                launch(kernel);
                launch(kernel);
              }),
              (GraphEdges{0, 1}));
    EXPECT_EQ(captured([&] {
                launch(foreign);
                launch(kernel);
              }),
              (GraphEdges{1, 0}));
  }
}

TEST_F(EarlyStartTest, InAPlainStreamResultsAreRightWithAndWithoutIt) {
  for (const EarlyStart early : {EarlyStart::never, EarlyStart::captured, EarlyStart::everywhere}) {
    const auto kernel = prepared({"early"}, early), foreign = prepared({"ordinary"}, early);
    clear();
    for (int i = 0; i < 10; ++i) {
      launch(kernel);
      launch(kernel);
      launch(foreign);
    }
    EXPECT_EQ(result(), 30);
  }
}

/// A printed figure only: the host's load is not the test's business.
TEST_F(EarlyStartTest, WhatAskingTheStreamCostsTheHost) {
  kernel_ = compiled(unit_of(R"(
extern "C" __global__ void early(float* x) { asm volatile("griddepcontrol.wait;" ::: "memory"); }
extern "C" __global__ void ordinary(float* x) {})",
                             {"early", "ordinary"}));
  const auto host_seconds = [&](const std::string& entry) {
    constexpr int kCalls = 500;  // fewer than fit the queue of a stream
    const auto kernel = prepared({entry});
    double least = 1;
    for (int round = 0; round < 40; ++round) {
      EXPECT_EQ(cudaStreamSynchronize(stream_.get()), cudaSuccess);
      const auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < kCalls; ++i) launch(kernel);
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
      least = std::min(least, elapsed.count() / kCalls);
    }
    return least;
  };
  const double without = host_seconds("ordinary"), with = host_seconds("early");
  figure("host time of a launch, of one that may start early",
         format("{:.3f} us, {:.3f} us", without * 1e6, with * 1e6));
}

// Which GPU and which context a launch uses, and what it leaves in its thread.

constexpr std::int64_t kThreads = 256;

template <class Function>
Function* of_driver(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function*>(dlsym(driver, name));
}

CUcontext current_context() {
  CUcontext context = nullptr;
  EXPECT_EQ(of_driver<CUresult(CUcontext*)>("cuCtxGetCurrent")(&context), CUDA_SUCCESS);
  return context;
}

void in_new_thread(const std::function<void()>& work) { std::thread(work).join(); }

class OnDeviceTest : public Gpu {
 protected:
  /// out[i] = i + what a workspace of zeros has, on this GPU.
  std::unique_ptr<PreparedKernel> prepared(int ordinal) {
    const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, const int* zeros) {
  out[threadIdx.x] = threadIdx.x + zeros[threadIdx.x];
})"));
    LaunchPlan plan;
    plan.workspace = {{"zeros", ElementType::i32, kThreads, Role::workspace, Fill::zero, 0, {}}};
    Launch launch;
    launch.entry = "kernel";
    launch.block.x = kThreads;
    launch.arguments = {BufferRef{0}, BufferRef{1}};
    plan.launches = {launch};
    return std::make_unique<PreparedKernel>(
        ordinal, *kernel.binary, plan,
        std::vector<BufferSpec>{
            {"out", ElementType::f32, kThreads, Role::output, Fill::random, 0, {}}});
  }

  static void expect_launched(PreparedKernel& kernel, const DeviceMemory& out) {
    void* const addresses[] = {out.get()};
    kernel.launch(addresses, {}, nullptr);
    std::vector<float> got(kThreads), right(kThreads);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = static_cast<float>(i);
    EXPECT_EQ(cudaMemcpy(got.data(), out.get(), kThreads * sizeof(float), cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(got, right);
  }

  static DeviceMemory memory() { return DeviceMemory(kThreads * std::int64_t{sizeof(float)}); }
};

TEST_F(OnDeviceTest, AThreadWithoutAContextHasNoneAfterwards) {
  in_new_thread([&] {
    ASSERT_EQ(current_context(), nullptr);
    {
      const OnDevice on_device(0);
      EXPECT_NE(current_context(), nullptr);
    }
    EXPECT_EQ(current_context(), nullptr);
    const auto kernel = prepared(0);
    EXPECT_EQ(current_context(), nullptr);
  });
}

TEST_F(OnDeviceTest, AProgramsOwnContextIsUsedAndStaysCurrent) {
  in_new_thread([&] {
    CUcontext own = nullptr;
    ASSERT_EQ(of_driver<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(&own, 0, 0),
              CUDA_SUCCESS);
    {
      const DeviceMemory out = memory();
      const auto kernel = prepared(0);
      expect_launched(*kernel, out);
      EXPECT_EQ(current_context(), own);
    }
    EXPECT_EQ(current_context(), own);
    of_driver<CUresult(CUcontext)>("cuCtxDestroy_v2")(own);
  });
}

TEST_F(OnDeviceTest, TheDefaultStreamIsThatOfTheKernelsGpu) {
  if (cuda_devices().size() < 2) GTEST_SKIP() << "there are fewer than two GPUs here";
  in_new_thread([&] {
    ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
    const DeviceMemory out = memory();
    const auto kernel = prepared(1);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    const CUcontext before = current_context();
    expect_launched(*kernel, out);
    EXPECT_EQ(current_context(), before);
  });
}

TEST_F(OnDeviceTest, NoContextIsMadeOnTheFirstGpu) {
  if (cuda_devices().size() < 2) GTEST_SKIP() << "there are fewer than two GPUs here";
  const auto is_active = [](int ordinal) {
    unsigned flags = 0;
    int active = 0;
    of_driver<CUresult(CUdevice, unsigned*, int*)>("cuDevicePrimaryCtxGetState")(ordinal, &flags,
                                                                                 &active);
    return active != 0;
  };
  if (is_active(0)) GTEST_SKIP() << "this process has one already: run this test by itself";
  in_new_thread([&] {
    DeviceMemory out;
    {
      const OnDevice on_device(1);
      out = memory();
    }
    const auto kernel = prepared(1);
    void* const addresses[] = {out.get()};
    kernel->launch(addresses, {}, nullptr);
    const OnDevice on_device(1);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    out = {};
  });
  EXPECT_FALSE(is_active(0));
}

}  // namespace
}  // namespace autotune
