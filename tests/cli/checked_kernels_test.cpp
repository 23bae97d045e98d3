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
    EXPECT_THAT(ended.out, HasSubstr("needs a cooperative launch"));
  }
}

}  // namespace
}  // namespace autotune
