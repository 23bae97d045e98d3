// SPDX-License-Identifier: Apache-2.0
// The kernels of a manifest that prepare inputs.
#include <gmock/gmock.h>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Preparation : public testing::Test {
 protected:
  Target target(
      const std::string& slopes = "fill = \"prepared\"",
      const std::string& prepare =
          "prepare.kernels.derive = { grid = \"ceil_div(N, 64)\", block = 64, arguments "
          "= [\"m\", \"s\", \"N\"] }",
      const std::string& reference = "reference.kernels.plain = { grid = 1, block = 1 }") const {
    folder_.write("sum.cu", "");
    folder_.write("expected.bin", "results");
    return load_manifest(folder_.write("sum.target.toml", R"toml(manifest = 2
name = "sum"
source = "sum.cu"
sizes = ["N"]
arguments.m = { type = "f32", length = "N" }
arguments.s = { type = "f32", length = "N", )toml" + slopes + R"toml( }
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["s", "y", "N"]
kernels.sum = { grid = 1, block = 1 }
)toml" + prepare + "\n" + reference + "\n"));
  }
  static Workload workload(const Target& target) {
    return workload_of(target, problem_of(target, {{"N", 100}}, {}), {});
  }
  void expect_error(const std::string& slopes, const std::string& prepare,
                    const std::string& what) const {
    EXPECT_THAT([&] { target(slopes, prepare); }, ThrowsMessage<Error>(HasSubstr(what)));
  }

  ScratchFolder folder_;
};

TEST_F(Preparation, IsLaunchedFromTheSourceOfTheReference) {
  const Workload made = workload(target());
  EXPECT_EQ(made.buffers[1].fill, Fill::prepared);
  ASSERT_EQ(made.preparation.launches.size(), 1u);
  EXPECT_EQ(made.preparation.launches[0].grid.x, 2);
  EXPECT_EQ(made.preparation.launches[0].arguments[1], Argument(BufferRef{1}));
  EXPECT_THAT(made.reference_source.entries, ElementsAre("plain", "derive"));
}

TEST_F(Preparation, IsCompiledWhereAFileHasTheAnswers) {
  const Workload made =
      workload(target("fill = \"prepared\"", "prepare.kernels.derive = { grid = 1, block = 1 }",
                      "reference.file = \"expected.bin\""));
  EXPECT_TRUE(made.runs_kernels());
  EXPECT_TRUE(made.reference.launches.empty());
  EXPECT_THAT(made.reference_source.entries, ElementsAre("derive"));
}

TEST_F(Preparation, BelongsToTheMeasurement) {
  const std::string before = target().fingerprint;
  EXPECT_EQ(target().fingerprint, before);
  EXPECT_NE(target("fill = \"prepared\"", "prepare.kernels.derive = { grid = 1, block = 64 }")
                .fingerprint,
            before);
}

TEST_F(Preparation, GoesWithAnInputThatIsPrepared) {
  expect_error("fill = \"zero\"", "prepare.kernels.derive = { grid = 1, block = 64 }",
               "no argument has fill = \"prepared\"");
  expect_error("fill = \"prepared\"", "", "no kernel of \"prepare.kernels\" takes s");
  expect_error("fill = \"prepared\"",
               "prepare.kernels.derive = { grid = 1, block = 64, arguments = [\"m\"] }",
               "no kernel of \"prepare.kernels\" takes s");
  expect_error("fill = \"prepared\", role = \"inout\"", "", "only an input can be prepared");
}

}  // namespace
}  // namespace autotune
