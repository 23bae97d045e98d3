// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/constant_buffer.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/tuner/runtime/c_api_case.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;

class ConstantBuffer : public CApiCase {};

/// d = a + 2 b, where a first kernel makes 2 b.
std::string target_that_prepares_b(const std::filesystem::path& folder) {
  std::ofstream(folder / "added.cu") << R"(
extern "C" __global__ void twice(const float* b, float* made) {
  made[blockIdx.x] = 2 * b[blockIdx.x];
}
extern "C" __global__ void added(const float* a, const float* made, float* d) {
  d[blockIdx.x] = a[blockIdx.x] + made[blockIdx.x];
}
extern "C" __global__ void reference(const float* a, const float* b, double* d) {
  d[blockIdx.x] = a[blockIdx.x] + 2.0 * b[blockIdx.x];
})";
  std::ofstream(folder / "added.target.toml") << R"(manifest = 2
name = "added"
source = "added.cu"
sizes = ["N"]
parameters.UNUSED = [1]
arguments.a = { type = "f32", length = "N" }
arguments.b = { type = "f32", length = "N" }
arguments.d = { type = "f32", length = "N", role = "output", tolerance = "4" }
workspace.made = { type = "f32", length = "N" }
main = "added"
launch.grid = "N"
launch.block = 1
kernels.twice = { arguments = ["b", "made"], grid_with_constant.b = 0 }
kernels.added.arguments = ["a", "made", "d"]
reference.outputs = "f64"
reference.kernels.reference = { grid = "N", block = 1, arguments = ["a", "b", "d"] }
)";
  return (folder / "added.target.toml").string();
}

TEST_F(ConstantBuffer, ItsWorkIsDoneOnce) {
  const std::string target = target_that_prepares_b(folder_ / "");
  options_.target = target.c_str();
  options_.device = "host";
  ASSERT_EQ(autotune_open(&options_, &handle_), AUTOTUNE_OK) << autotune_message();
  const int64_t size[1] = {2};
  autotune_kernel* kernel = nullptr;
  ASSERT_EQ(autotune_prepare(handle_, size, 1, &kernel), AUTOTUNE_OK) << autotune_message();
  float a[] = {1, 2}, b[] = {10, 20}, elsewhere[] = {7, 8}, d[2] = {};
  const auto launched = [&](float* from) {
    void* const buffers[] = {a, from, d};
    EXPECT_EQ(autotune_launch(kernel, buffers, 3, nullptr), AUTOTUNE_OK) << autotune_message();
    return std::vector<float>(d, d + 2);
  };
  using testing::ElementsAre;
  EXPECT_THAT(launched(b), ElementsAre(21, 42));
  b[0] = 11;
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "nothing was promised";

  ASSERT_EQ(autotune_hold_constant(kernel, "b"), AUTOTUNE_OK) << autotune_message();
  EXPECT_THAT(launched(b), ElementsAre(23, 42)) << "the first launch does all of its work";
  a[1] = 5, b[0] = 30;
  EXPECT_THAT(launched(b), ElementsAre(23, 45)) << "only a is read again";
  EXPECT_THAT(launched(elsewhere), ElementsAre(15, 21)) << "another buffer";
  EXPECT_THAT(launched(b), ElementsAre(61, 45));
  b[1] = 0;
  ASSERT_EQ(autotune_invalidate(kernel), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 5));
  b[1] = 1;
  ASSERT_EQ(autotune_hold_constant(kernel, nullptr), AUTOTUNE_OK);
  EXPECT_THAT(launched(b), ElementsAre(61, 7));

  EXPECT_EQ(autotune_hold_constant(kernel, "B"), AUTOTUNE_WRONG_USAGE);
  EXPECT_THAT(autotune_message(), HasSubstr("no buffer B"));
  EXPECT_EQ(autotune_hold_constant(kernel, "d"), AUTOTUNE_WRONG_USAGE);
  autotune_release(kernel);
  autotune_close(handle_);
}

}  // namespace
}  // namespace autotune
