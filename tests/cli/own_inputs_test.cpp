// SPDX-License-Identifier: Apache-2.0
// Targets with data of their own, from the manifest to the worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/cli/tool.hpp"

namespace autotune {
namespace {

using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sandbox;

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
  Ended run(const std::string& what) const {
    std::vector<std::string> words{"check",  "./rows.target.toml", "--sizes",
                                   "4x1000", "--device",           "host"};
    if (what == "tune") {
      words = {"--target", "./rows.target.toml", "--sizes", "4x1000", "--device",
               "host",     "--budget",           "2"};
    }
    return sandbox_.run(words);
  }

  Sandbox sandbox_;
};

TEST_F(OwnInputs, AreCheckedAndTuned) {
  const Ended checked = run("check");
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("input     starts 5 i32, 20 B, from starts.bin\n"));
  EXPECT_THAT(checked.out, HasSubstr("uniform 0 to 999\n"));
  EXPECT_THAT(checked.out, HasSubstr("prepared\n"));
  EXPECT_THAT(checked.out, HasSubstr("the default is right on the edge problem too"));
  const Ended tuned = run("tune");
  EXPECT_EQ(tuned.status, 0) << tuned.err;
}

TEST_F(OwnInputs, InAFileBelongToTheResults) {
  ASSERT_EQ(run("tune").status, 0);
  const std::vector<std::string> query{"query", "--target", "./rows.target.toml"};
  EXPECT_THAT(sandbox_.run(query).out, HasSubstr("rows ROWS=4 N=1000 on "));
  write_starts({0, 2, 4, 6, 8});
  EXPECT_THAT(sandbox_.run(query).out, Not(HasSubstr("rows ROWS=4 N=1000 on ")));
  write_starts({0, 8});
  const Ended shorter = run("check");
  EXPECT_NE(shorter.status, 0);
  EXPECT_THAT(shorter.err, HasSubstr("arguments.starts.length: 5 elements of i32 are 20 bytes, and "
                                     "starts.bin has 8"));
}

}  // namespace
}  // namespace autotune
