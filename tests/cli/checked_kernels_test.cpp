// SPDX-License-Identifier: Apache-2.0
// What `check` says of kernels that do not take what the manifest passes, or that no launch can
// run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace autotune {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using testing::Sandbox;

class CheckedKernels : public ::testing::Test {
 protected:
  /// A target whose kernel is `scale`, with this body and scalar `a`.
  Ended check(const std::string& kernel, const std::string& a, const std::string& device,
              const std::string& options = "[]") const {
    sandbox_.write("scale.cu", kernel + R"(
extern "C" __global__ void plain(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
})");
    sandbox_.write("scale.target.toml", R"toml(manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
options = )toml" + options + R"toml(
parameters.BLOCK = [32, 64]
arguments.x = { type = "f32", length = "N" }
arguments.y = { type = "f32", length = "N", role = "output", tolerance = 2 }
arguments.a = )toml" + a + R"toml(
launch.arguments = ["x", "y", "a", "N"]
kernels.scale = { grid = "ceil_div(N, BLOCK)", block = "BLOCK", dynamic_shared_bytes = "4 * BLOCK" }
reference.kernels.plain = { grid = "ceil_div(N, 256)", block = 256 }
reference.outputs = "same"
)toml");
    return sandbox_.run({"check", "./scale.target.toml", "--sizes", "1000", "--device", device});
  }

  static std::vector<std::string> devices() {
    if (AUTOTUNE_WITH_CUDA) return {"host", "model:h200"};
    return {"host"};
  }

  const Sandbox sandbox_;
};

constexpr const char* kScale = R"(
extern __shared__ float tile[];
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = a * x[i];
  __syncthreads();
  y[i] = tile[threadIdx.x];
})";

TEST_F(CheckedKernels, OfTheRightTypesAreFine) {
  for (const std::string& device : devices()) {
    const Ended ended = check(kScale, "{ type = \"f32\", value = 2 }", device,
                              "[\"-std=c++20\", \"--use_fast_math\"]");
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    if (device != "host") continue;
    EXPECT_THAT(ended.out, HasSubstr("note      the host device does not use these options, which "
                                     "are NVRTC's own: --use_fast_math\n"));
  }
}

TEST_F(CheckedKernels, OfAnotherTypeAreRefusedWithBothTypes) {
  for (const std::string& device : devices()) {
    const Ended ended = check(kScale, "{ value = 2 }", device);
    EXPECT_EQ(ended.status, 1) << ended.out;
    EXPECT_THAT(ended.out, AllOf(HasSubstr("launch_error"),
                                 HasSubstr("argument a is i32, parameter 3 of scale is float: give "
                                           "it type = \"f32\""),
                                 HasSubstr("argument a is i32, parameter 3 of plain is float")));
  }
}

TEST_F(CheckedKernels, ThatWaitForTheGridAreRefused) {
  for (const std::string& device : devices()) {
    const Ended ended = check(R"(
#include <cooperative_groups.h>
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  y[threadIdx.x] = a * x[threadIdx.x];
  cooperative_groups::this_grid().sync();
})",
                              "{ type = \"f32\", value = 2 }", device);
    EXPECT_EQ(ended.status, 1) << ended.out;
    EXPECT_THAT(ended.out, HasSubstr("needs a cooperative launch: write cooperative = true"));
  }
}

TEST_F(CheckedKernels, MayBeginAsProgramsOfNvccDoAndHaveHostCode) {
  for (const std::string& device : devices()) {
    const Ended ended = check(R"(
#include <cuda_runtime.h>
#include <algorithm>
#include <assert.h>
#include <cmath>
#include <cstdint>
#include <float.h>
#include <iostream>
#include <limits>
#include <stdio.h>
#include <vector>
#define BLOCK 16
__global__ void scale(const float* x, float* y, float a, int n) {
  const int32_t i = blockIdx.x * BLOCK + threadIdx.x;
  const size_t bytes = sizeof(uint8_t);
  assert(bytes == 1);
  const float big = std::max(std::sqrt(fabs(x[0])), fminf(FLT_MAX, INFINITY));
  if (i < n) y[i] = a * x[i] * (std::numeric_limits<float>::max() < big ? 1 : M_PI > 3);
}
int main() {
  std::vector<float> x(100);
  scale<<<1, BLOCK>>>(x.data(), x.data(), 2, 100);
  std::cout << cudaDeviceSynchronize() << std::endl;
})",
                              "{ type = \"f32\", value = 2 }", device);
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("left out as host code: main (scale.cu:20)\n"));
    EXPECT_THAT(ended.out, HasSubstr("replace the source's own: BLOCK (scale.cu:12)\n"));
  }
}

TEST_F(CheckedKernels, ThatMeetAMacroSaySo) {
  for (const std::string& device : devices()) {
    const Ended ended = check(R"(
__global__ void scale(const float* x, float* y, float a, int n) {
  const int BLOCK = 64;
  const uint32_t i = threadIdx.x;
  y[i] = a;
})",
                              "{ type = \"f32\", value = 2 }", device);
    EXPECT_EQ(ended.status, 1) << ended.out;
    EXPECT_THAT(ended.out,
                AllOf(HasSubstr("BLOCK is a macro of the manifest, and `const int BLOCK = 64;`"),
                      HasSubstr("uint32_t is from a header that nvcc includes by itself")));
  }
}

TEST_F(CheckedKernels, MayUseCooperativeGroupsOfABlock) {
  for (const std::string& device : devices()) {
    const Ended ended = check(R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void scale(const float* x, float* y, float a, int n) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int i = block.group_index().x * block.size() + block.thread_rank();
  const int sum = cg::reduce(tile, 1, cg::plus<int>());
  block.sync();
  if (i < n) y[i] = sum == 16 && tile.meta_group_rank() == threadIdx.x / 16 ? a * x[i] : -1;
})",
                              "{ type = \"f32\", value = 2 }", device);
    EXPECT_EQ(ended.status, 0) << ended.out << ended.err;
  }
}

}  // namespace
}  // namespace autotune
