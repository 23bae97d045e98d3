// SPDX-License-Identifier: Apache-2.0
// Kernels launched on a program's own memory, as the runtime library does it.
#include "tuner/gpu/prepared_kernel.hpp"

#include <cuda_runtime_api.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {
namespace {

class PreparedKernelTest : public Gpu {};

TEST_F(PreparedKernelTest, WorkspaceIsFilledAsTheManifestSays) {
  constexpr std::int64_t kLength = 1 << 20;
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, const int* counters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = counters[i] == 0 ? 1.0f : -1.0f;
})"));
  LaunchPlan plan;
  plan.workspace = {{"counters", ElementType::i32, kLength, Role::workspace, Fill::zero, 0, {}}};
  Launch launch;
  launch.entry = "kernel";
  launch.grid.x = kLength / 256;
  launch.block.x = 256;
  launch.arguments = {BufferRef{0}, BufferRef{1}};
  plan.launches = {launch};
  {
    const DeviceMemory dirt(64 << 20);  // what the workspace is likely to be allocated from
    ASSERT_EQ(cudaMemset(dirt.get(), 0xFF, 64 << 20), cudaSuccess);
  }
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, kLength, Role::output, Fill::random, 0, {}}});
  const DeviceMemory out(kLength * std::int64_t{sizeof(float)});
  void* const addresses[] = {out.get()};
  prepared.launch(addresses, {}, nullptr);
  std::vector<float> got(kLength);
  ASSERT_EQ(cudaMemcpy(got.data(), out.get(), kLength * sizeof(float), cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(got, std::vector<float>(kLength, 1.0f));
}

TEST_F(PreparedKernelTest, ScalarsOfTheCallerTakeThePlaceOfThoseOfTheirNames) {
  const CompiledKernel kernel = compiled(unit_of(R"(
extern "C" __global__ void kernel(float* out, float alpha, int n, double beta) {
  out[threadIdx.x] = alpha * threadIdx.x + n + float(beta);
})"));
  LaunchPlan plan;
  Launch launch;
  launch.entry = "kernel";
  launch.block.x = 4;
  launch.arguments = {BufferRef{0}, Scalar{ElementType::f32, 0, 1, "alpha"},
                      Scalar{ElementType::i32, 100, 0}, Scalar{ElementType::f64, 0, 0, "beta"}};
  plan.launches = {launch};
  PreparedKernel prepared(0, *kernel.binary, plan,
                          {{"out", ElementType::f32, 4, Role::output, Fill::random, 0, {}}});
  const DeviceMemory out(4 * sizeof(float));
  void* const addresses[] = {out.get()};
  const auto launched = [&](std::vector<Scalar> scalars) {
    prepared.launch(addresses, scalars, nullptr);
    std::vector<float> got(4);
    EXPECT_EQ(cudaMemcpy(got.data(), out.get(), 4 * sizeof(float), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return got;
  };
  EXPECT_EQ(launched({}), (std::vector<float>{100, 101, 102, 103}));
  const Scalar alpha{ElementType::f32, 0, 10, "alpha"}, beta{ElementType::f64, 0, -100, "beta"};
  EXPECT_EQ(launched({alpha, beta}), (std::vector<float>{0, 10, 20, 30}));
  EXPECT_EQ(launched({beta}), (std::vector<float>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace autotune
