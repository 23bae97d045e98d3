// SPDX-License-Identifier: Apache-2.0
// Which GPU and which context a launch uses, and what it leaves in its thread.
#include "tuner/gpu/on_device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <functional>
#include <thread>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/prepared_kernel.hpp"

namespace autotune {
namespace {

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
