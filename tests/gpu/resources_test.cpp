// SPDX-License-Identifier: Apache-2.0
// What we read from cubins is what the driver says of them.
#include <cuda_runtime_api.h>

#include "tests/gpu/gpu_fixture.hpp"
#include "tuner/gpu/kernel_launch.hpp"

namespace autotune {
namespace {

class Resources : public Gpu {};

TEST_F(Resources, OfACubinAreTheDrivers) {
  const SourceUnit unit = unit_of(R"(
extern "C" __global__ void plain(float* to) { to[threadIdx.x] = 1; }
extern "C" __global__ void __launch_bounds__(96) bounded(float* to) {
  __shared__ double tile[100];
  tile[threadIdx.x] = to[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = tile[threadIdx.x ^ 1];
}
extern "C" __global__ void spilled(float* data, int n) {
  float copy[200];
  for (int i = 0; i < 200; ++i) copy[i] = data[i];
  for (int j = 0; j < 9; ++j)
    for (int i = 0; i < 200; ++i) copy[(i * n) % 200] += copy[i] * copy[(i + 1) % 200];
  for (int i = 0; i < 200; ++i) data[i] = copy[i];
}
extern "C" __global__ void arguments(char a, double b, short c, const float* d, int e) {
  if (a == c) *(float*)d = b + e;
})",
                                  {"plain", "bounded", "spilled", "arguments"});
  const CompiledKernel kernel = compiled(unit);
  cudaSetDevice(0);
  const LoadedCubin cubin(*kernel.binary);
  for (const KernelResources& resources : kernel.resources) {
    const void* const function = cubin.kernel(resources.entry);
    cudaFuncAttributes driver{};
    ASSERT_EQ(cudaFuncGetAttributes(&driver, function), cudaSuccess);
    EXPECT_EQ(resources.registers, driver.numRegs) << resources.entry;
    EXPECT_EQ(resources.shared_bytes, static_cast<std::int64_t>(driver.sharedSizeBytes))
        << resources.entry;
    EXPECT_EQ(resources.local_bytes, static_cast<std::int64_t>(driver.localSizeBytes))
        << resources.entry;
    if (resources.max_threads > 0) {
      EXPECT_EQ(resources.max_threads, driver.maxThreadsPerBlock);
    }
    const std::vector<int>& parameters = cubin.parameter_bytes(resources.entry);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::size_t offset = 0, bytes = 0;
      ASSERT_EQ(cudaFuncGetParamInfo(function, i, &offset, &bytes), cudaSuccess);
      EXPECT_EQ(parameters[i], static_cast<int>(bytes)) << resources.entry << i;
    }
  }
  EXPECT_EQ(cubin.parameter_bytes("arguments"), (std::vector<int>{1, 8, 2, 8, 4}));
  ASSERT_EQ(kernel.resources.size(), 4U);
  EXPECT_EQ(kernel.resources[1].max_threads, 96);
  EXPECT_GT(kernel.resources[2].local_bytes, 0);
}

}  // namespace
}  // namespace autotune
