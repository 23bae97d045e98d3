// SPDX-License-Identifier: Apache-2.0
// Fills as a manifest gives them.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class FillOfManifest : public testing::Test {
 protected:
  Target target(const std::string& fill) const {
    folder_.write("sum.cu", "");
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
arguments.m = { type = "i32", length = "N", fill = )toml" + fill +
                                                              R"toml( }
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["m", "y", "N"]
kernels.sum = { grid = 1, block = 1 }
reference.kernels.sum = { grid = 1, block = 1 }
)toml"));
  }
  BufferSpec buffer(const std::string& fill) const {
    const Target made = target(fill);
    return buffers_of(made, problem_of(made, {{"N", 100}}, {}), {})[0];
  }
  void expect_error(const std::string& fill, const std::string& what) const {
    EXPECT_THAT([&] { buffer(fill); }, ThrowsMessage<Error>(HasSubstr(what))) << fill;
  }

  ScratchFolder folder_;
};

TEST_F(FillOfManifest, HasARuleWithExpressionsAndASeed) {
  const BufferSpec uniform = buffer("{ uniform = [0, \"N - 1\"], seed = 7 }");
  EXPECT_EQ(uniform.fill, Fill::uniform);
  EXPECT_THAT(uniform.fill_values, ElementsAre(0, 99));
  EXPECT_EQ(uniform.seed, 7u);
  const BufferSpec normal = buffer("{ normal = [-1e-3, 2.5] }");
  EXPECT_EQ(normal.fill, Fill::normal);
  EXPECT_THAT(normal.fill_values, ElementsAre(-1e-3, 2.5));
  EXPECT_EQ(normal.seed, std::nullopt);
  EXPECT_THAT(buffer("{ normal = [2.5, 1e-6] }").fill_values, ElementsAre(2.5, 1e-6));
  EXPECT_THAT(buffer("{ value = \"N / 3\" }").fill_values, ElementsAre(33));
  EXPECT_EQ(buffer("{ range = [0, 2] }").fill, Fill::range);
  EXPECT_EQ(buffer("{ integers = [1, 4] }").fill, Fill::integers);
}

TEST_F(FillOfManifest, IsRefusedWhereItMakesNoSense) {
  expect_error("{ seed = 3 }",
               "give \"uniform\", \"normal\", \"value\", \"range\" or \"integers\"");
  expect_error("{ integers = [0, 1.5] }", "arguments.m.fill: 1.5 is not an integer");
  expect_error("{ integers = [3, 1] }", "3 to 1 is empty");
  expect_error("{ value = 3, range = [0, 1] }", "give one of");
  expect_error("{ uniform = 3 }", "expected a list");
  expect_error("{ uniform = [1, 2, 3] }", "uniform");
  expect_error("{ values = 3 }", "did you mean value?");
  expect_error("{ value = 3, seed = -1 }", "a seed is 0 or more");
  expect_error("{ value = 0.5 }", "arguments.m.fill: 0.5 is not a value of i32");
  expect_error("{ value = \"N / 0\" }", "arguments.m.fill");
}

TEST_F(FillOfManifest, BelongsToTheMeasurement) {
  const std::string before = target("{ uniform = [0, 9] }").fingerprint;
  EXPECT_EQ(target("{ uniform = [0, \"9\"] }").fingerprint, before);
  EXPECT_NE(target("{ uniform = [0, 8] }").fingerprint, before);
  EXPECT_NE(target("{ uniform = [0, 9], seed = 1 }").fingerprint, before);
  EXPECT_NE(target("{ range = [0, 9] }").fingerprint, before);
}

}  // namespace
}  // namespace autotune
