// SPDX-License-Identifier: Apache-2.0
// Targets with data of their own, from the manifest to the worker.
#include <cstdint>
#include <fstream>

#include "tests/cli/tool.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::Ended;
using testing::Sandbox;
using testing::Words;

/// Rows of a sparse matrix from files, indices of a range, and a scale that a kernel prepares.
constexpr const char* kManifest = R"toml(manifest = 2
name = "rows"
source = "rows.cu"
sizes.ROWS = { fixed = 4 }
sizes.N = { least = 8 }
parameters.BLOCK = [1, 2, 4]
arguments.starts = { type = "i32", length = "ROWS + 1", file = "starts.bin" }
arguments.x = { type = "f32", length = "N", fill = { uniform = [1, 2], seed = 7 } }
arguments.which = { type = "i32", length = 8, fill = { uniform = [0, "N - 1"] } }
arguments.scaled = { type = "f32", length = "N", fill = "prepared" }
arguments.sums = { type = "f32", length = "ROWS", role = "output", absolute = 1e-6 }
launch.arguments = ["starts", "which", "scaled", "sums", "ROWS"]
prepare.kernels.scale = { grid = 1, block = 1, arguments = ["x", "scaled", "N"] }
kernels.sum_rows = { grid = "ceil_div(ROWS, BLOCK)", block = "BLOCK" }
reference.kernels.plain_rows = { grid = 1, block = 1 }
)toml";

constexpr const char* kSource = R"cuda(
extern "C" __global__ void scale(const float* x, float* scaled, int n) {
  for (int i = 0; i < n; ++i) scaled[i] = 2 * x[i];
}
__device__ float sum(const int* starts, const int* which, const float* scaled, int row) {
  float all = 0;
  for (int i = starts[row]; i < starts[row + 1]; ++i) all += scaled[which[i]];
  return all;
}
extern "C" __global__ void sum_rows(const int* starts, const int* which, const float* scaled,
                                    float* sums, int rows) {
  const int row = blockIdx.x * BLOCK + threadIdx.x;
  if (row < rows) sums[row] = sum(starts, which, scaled, row);
}
extern "C" __global__ void plain_rows(const int* starts, const int* which, const float* scaled,
                                      float* sums, int rows) {
  for (int row = 0; row < rows; ++row) sums[row] = sum(starts, which, scaled, row);
}
)cuda";

class OwnInputs : public ::testing::Test {
 protected:
  OwnInputs() {
    sandbox_.write("rows.cu", kSource);
    sandbox_.write("rows.target.toml", kManifest);
    write_starts({0, 3, 3, 7, 8});
  }
  void write_starts(const std::vector<std::int32_t>& starts) const {
    std::ofstream file(sandbox_.folder() / "starts.bin", std::ios::binary);
    file.write(reinterpret_cast<const char*>(starts.data()),
               static_cast<std::streamsize>(4 * starts.size()));
  }
  Ended check() const {
    return sandbox_.run("check ./rows.target.toml --sizes 4x1000 --device host");
  }

  Sandbox sandbox_;
};

TEST_F(OwnInputs, AreCheckedAndTuned) {
  const Ended checked = check();
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("input     starts 5 i32, 20 bytes, from starts.bin\n"));
  EXPECT_THAT(checked.out, HasSubstr("uniform 0 to 999\n"));
  EXPECT_THAT(checked.out, HasSubstr("prepared\n"));
  EXPECT_THAT(checked.out, HasSubstr("the default is right on the edge problem too"));
  sandbox_.done("--target ./rows.target.toml --sizes 4x1000 --device host --budget 2");
}

TEST_F(OwnInputs, InAFileMustHaveTheLengthThatIsDeclared) {
  write_starts({0, 8});
  const Ended shorter = check();
  EXPECT_NE(shorter.status, 0);
  EXPECT_THAT(shorter.err, HasSubstr("arguments.starts.length: 5 elements of i32 are 20 bytes, and "
                                     "starts.bin has 8"));
}

TEST(OwnOutputs, WithALengthThatHangsOnAParameterAreCheckedByAKernel) {
  const Sandbox sandbox;
  sandbox.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
parameters.SHARE = [1000, 500]
let = "blocks = ceil_div(N, SHARE)"
arguments.x = { type = "f32", length = "N" }
arguments.parts = { type = "f32", length = "blocks", role = "unchecked" }
arguments.total = { type = "f32", length = 1, role = "checked", tolerance = "N" }
launch.arguments = ["x", "parts", "N"]
kernels.sum = { grid = "blocks", block = 1 }
check.kernels.add_up = { grid = 1, block = 1, arguments = ["parts", "blocks", "total"] }
reference.kernels.plain = { grid = 1, block = 1, arguments = ["x", "total", "N"] }
)toml");
  sandbox.write("sum.cu", R"cuda(
extern "C" __global__ void sum(const float* x, float* parts, int n) {
  const int first = blockIdx.x * SHARE;
  float all = 0;
  for (int i = first; i < min(n, first + SHARE); ++i) all += x[i];
  parts[blockIdx.x] = all;
}
extern "C" __global__ void add_up(const float* parts, int count, float* total) {
  float all = 0;
  for (int i = 0; i < min(count, 100000 / SHARE); ++i) all += parts[i];
  *total = all;
}
extern "C" __global__ void plain(const float* x, float* total, int n) {
  float all = 0;
  for (int i = 0; i < n; ++i) all += x[i];
  *total = all;
}
)cuda");
  const std::string manifest = "./sum.target.toml";
  const Ended checked = sandbox.run(format("check {} --sizes 100000 --device host", manifest));
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("checked   total 1 f32"));
  EXPECT_THAT(checked.out, HasSubstr("unchecked parts 100 f32"));
  const Ended tuned =
      sandbox.run(format("--target {} --sizes 100000 --device host --budget 2", manifest));
  EXPECT_EQ(tuned.status, 0) << tuned.err << tuned.out;
}

}  // namespace
}  // namespace autotune
