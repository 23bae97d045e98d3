// SPDX-License-Identifier: Apache-2.0
// A target with two families in files of their own, from the manifest to an export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace autotune {
namespace {

using ::testing::AllOf;
using testing::Ended;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sandbox;

constexpr const char* kTripled = R"toml(manifest = 2
name = "tripled"
source = "tripled.cu"
family = "KERNEL"
families = ["one.toml", "two.toml"]
default = { KERNEL = ["two", "one"] }
sizes.N = {}
sizes.batch = { default = 1 }
arguments.x = { type = "f32", length = "N * batch" }
arguments.y = { type = "f32", length = "N * batch", role = "output", tolerance = 1 }
launch.arguments = ["x", "y", "N * batch"]
reference.kernels.triple_reference = { grid = "ceil_div(N * batch, 128)", block = 128 }
)toml";

constexpr const char* kTripledSource =
    R"cuda(extern "C" __global__ void triple_reference(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
)cuda";

constexpr const char* kFamilyOne = R"toml([families.one]
source = "one.cu"
parameters.BLOCK = [32, 64, 128]
kernels.triple_one = { grid = "ceil_div(N * batch, BLOCK)", block = "BLOCK" }
)toml";

constexpr const char* kSourceOfOne =
    R"cuda(extern "C" __global__ void triple_one(const float* x, float* y, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = 3 * x[i];
}
)cuda";

constexpr const char* kFamilyTwo = R"toml([families.two]
when = "N > 64"
source = "two.cu"
parameters.ITEMS = [1, 2, 4]
parameters.THREADS = [64, 256]
kernels.triple_two = { grid = "ceil_div(N * batch, ITEMS * THREADS)", block = "THREADS" }
)toml";

constexpr const char* kSourceOfTwo =
    R"cuda(extern "C" __global__ void triple_two(const float* x, float* y, int n) {
  for (int k = 0; k < ITEMS; ++k) {
    const int i = (blockIdx.x * ITEMS + k) * THREADS + threadIdx.x;
    if (i < n) y[i] = 3 * x[i];
  }
}
)cuda";

class FamiliesOfFiles : public ::testing::Test {
 protected:
  FamiliesOfFiles() {
    sandbox_.write("tripled.target.toml", kTripled);
    sandbox_.write("tripled.cu", kTripledSource);
    sandbox_.write("one.toml", kFamilyOne);
    sandbox_.write("one.cu", kSourceOfOne);
    sandbox_.write("two.toml", kFamilyTwo);
    sandbox_.write("two.cu", kSourceOfTwo);
  }
  /// The output of a run that must succeed.
  std::string output(const std::vector<std::string>& words) const {
    const Ended ended = sandbox_.run(words);
    EXPECT_EQ(ended.status, 0) << words.front() << ": " << ended.err;
    return ended.out;
  }

  Sandbox sandbox_;
};

TEST_F(FamiliesOfFiles, AreCheckedTunedQueriedAndReplayed) {
  for (const char* const device : {"host", "model:h200"}) {
    EXPECT_THAT(output({"check", "./tripled.target.toml", "--device", device}),
                HasSubstr("5 of 5 configurations and the reference are fine"));
  }
  for (const char* const strategy : {"exhaustive", "guided"}) {
    const std::string sizes = strategy == std::string("guided") ? "700x3" : "600";
    EXPECT_THAT(output({"tune", "--target", "./tripled.target.toml", "--sizes", sizes, "--device",
                        "model:h200", "--strategy", strategy}),
                AllOf(HasSubstr("tripled N="), HasSubstr("KERNEL=")));
  }
  EXPECT_THAT(output({"query", "--target", "./tripled.target.toml", "--size", "600"}),
              HasSubstr("tripled N=600 batch=1"));
  EXPECT_THAT(output({"replay", "--target", "./tripled.target.toml", "--size", "700x3", "--budget",
                      "5", "--seeds", "2"}),
              HasSubstr("tripled"));
}

TEST_F(FamiliesOfFiles, WhereAFamilyIsNotValidTheOtherAnswers) {
  (void)output({"tune", "--target", "./tripled.target.toml", "--sizes", "64", "--device",
                "model:h200", "--strategy", "exhaustive"});  // two is not valid there
  (void)output({"db", "export", "--format", "cpp", "--output", "answers.hpp"});
  const std::string answers = testing::file_bytes(sandbox_.folder() / "answers.hpp");
  EXPECT_THAT(answers, AllOf(HasSubstr("KERNEL=one"), Not(HasSubstr("KERNEL=two"))));
}

}  // namespace
}  // namespace autotune
