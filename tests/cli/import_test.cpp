// SPDX-License-Identifier: Apache-2.0
// Files of other tuners: read into the database, and written from it.
#include <filesystem>

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {
namespace {

/// The target `tiny` as Kernel Tuner 1.5.0 would have recorded it, cut off in its last result.
constexpr const char* kCache = R"({
"device_name": "NVIDIA RTX A4000", "kernel_name": "tiny", "problem_size": 100,
"tune_params_keys": ["BLOCK", "STEP", "WIDTH"],
"tune_params": {"BLOCK": [1, 16, 17], "STEP": [1, 4], "WIDTH": [3]},
"objective": ["time"], "cache": {
"1,1,3": {"BLOCK": 1, "STEP": 1, "WIDTH": 3, "time": 4.0, "times": [4.0, 4.1], "timestamp": "2026-11-22 14:34:21.102791+00:00"},
"16,4,3": {"BLOCK": 16, "STEP": 4, "WIDTH": 3, "time": 2.0, "timestamp": "2026-11-22 14:34:22.102791+00:00"},
"17,4,3": {"BLOCK": 17, "STEP": 4, "WIDTH": 3, "time": 1.0, "timestamp": "2026-11-22 14:34:23.102791+00:00"},
"16,1,3": {"BLOCK": 16, "STEP": 1, "WIDTH": 3, "__error__": "CompilationFailedConfig"},
"1,4,3": {"BLOCK": 1, "STEP": 4, "WI)";

Words import_cache(const Sandbox& sandbox) {
  return format("import kt {} --size 100 --target @tiny",
                sandbox.write("cache.json", kCache).string());
}

Json query(const Sandbox& sandbox) { return sandbox.json("query --target @tiny")["results"]; }

using Import = InSandbox;

TEST_F(Import, ResultsOfKernelTunerBecomeImportedRows) {
  const Ended ended = sandbox.run(import_cache(sandbox));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(
      ended.out,
      HasSubstr(
          "3 trials of tiny N=100 on NVIDIA RTX A4000 imported, 1 left out: not valid there\n"));
  EXPECT_THAT(ended.err, HasSubstr("its end is missing"));
  const Json answers = query(sandbox);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0]["provenance"], "imported");
  EXPECT_EQ(answers[0]["verified"], false);
  EXPECT_EQ(answers[0]["policy"], "by=kernel_tuner");
  EXPECT_EQ(answers[0]["config"]["BLOCK"], 16);
  EXPECT_EQ(answers[0]["median_ns"], 2e6);
  sandbox.done("db check");
}

TEST_F(Import, TheSameFileAgainAddsNothing) {
  const auto facts = [&] { return sandbox.run("db export").out; };
  sandbox.done(import_cache(sandbox));
  const std::string before = facts();
  const Words arguments = import_cache(sandbox);  // the file is newer now
  sandbox.done(arguments);
  const std::string once = facts();
  sandbox.done(arguments);
  EXPECT_EQ(facts(), once);
}

TEST_F(Import, NeverDecidesWhatIsMeasured) {
  sandbox.done(tune("tiny", "100", "--budget 3"));
  const Json before = query(sandbox);
  sandbox.done(import_cache(sandbox));
  const Json after = query(sandbox);
  ASSERT_EQ(after.size(), 2U);
  EXPECT_TRUE(after[0] == before[0] || after[1] == before[0]);
}

TEST_F(Import, RefusesWhatIsNotTheTargets) {
  const std::string cache = sandbox.write("cache.json", kCache).string();
  const std::string other = sandbox.write("other.json", R"({"tune_params_keys": ["BLOCKS"],
    "tune_params": {"BLOCKS": [1, 2]}, "cache": {"1": {"BLOCKS": 1, "time": 1.0}}})");
  const std::string tiny = manifest_of("tiny");
  expect_refused(sandbox.run("import"), 2, {"needs one of t1, kt, t4"});
  expect_refused(sandbox.run("import kt"), 2, {"autotune import kt"});
  expect_refused(sandbox.run(format("import csv {}", cache)), 2, {"csv", "kt"});
  expect_refused(sandbox.run(format("import kt {} --target {}", cache, tiny)), 2, {"--size"});
  expect_refused(
      sandbox.run(format("import kt {} --target {} --size 100 --device 'RTX A4000'", other, tiny)),
      1, {"other.json", "BLOCKS", "BLOCK"});
  expect_refused(sandbox.run(format("import t4 {} --target {} --size 100", other, tiny)), 2,
                 {"other.json", "--device"});
}

TEST_F(Import, RealNumbersAreThoseOfTheTargetOnTheWayInAndOut) {
  sandbox.write("scale.cu", "");
  const std::string manifest = sandbox.write("scale.target.toml", R"(
manifest = 2
name = "scale"
source = "scale.cu"
sizes = ["N"]
parameters.BLOCK = [16, 32, 64]
parameters.PADDED = [0, 1]
parameters.FACTOR = [1.5, 2.0]
arguments.y = { type = "f32", length = "N", role = "output" }
launch.arguments = ["y"]
kernels.scale = { grid = "N", block = "BLOCK" }
reference.kernels.scale_reference = { grid = "N", block = 1 }
)");
  const std::string cache =
      AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples/kernel_tuner_cache.json";
  const Ended ended =
      sandbox.run(format("import kt {} --target {} --size 100000 --device h100", cache, manifest));
  EXPECT_THAT(ended.out, HasSubstr("12 trials of scale")) << ended.err;
  const Ended exported = sandbox.run("db export --format kt --target scale");
  EXPECT_THAT(exported.out, HasSubstr("\"64,1,2.0\"")) << exported.err;
}

TEST_F(Import, AT1ProblemBecomesAManifestThatIsRead) {
  sandbox.write("fill.cu",
                R"(extern "C" __global__ void fill(float* out, const float* in, float scale) {
  const int x = blockIdx.x * block_size_x + threadIdx.x;
  const int y = blockIdx.y * block_size_y + threadIdx.y;
  const REAL factor = FACTOR;
  if (x < problem_size_x && y < problem_size_y) {
    out[y * problem_size_x + x] = scale * factor / factor + 0 * in[0];
  }
})");
  const std::string problem =
      AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples/t1_problem.json";
  EXPECT_THAT(sandbox.done(format("import t1 {}", problem)),
              AllOf(HasSubstr("fill_2d.target.toml: written"),
                    HasSubstr("Conditions[2]: \"fits(block_size_x)\"")));
  expect_refused(sandbox.run(format("import t1 {}", problem)), 2,
                 {"fill_2d.target.toml", "exists"});
  const std::string check =
      sandbox.done("check ./fill_2d.target.toml --sizes 100x60 --device host --configurations 2");
  // 6 blocks with 2 factors and 2 types, and 2 blocks of 4 rows with 2 factors and one type.
  EXPECT_THAT(check, HasSubstr("28 of 36 combinations are valid"));
}

TEST(ExportOfResults, IsReadBackByReplay) {
  const Sandbox sandbox;
  sandbox.done(tune("tiny", "100,200", "--budget 8"));
  const std::string tiny = manifest_of("tiny");
  EXPECT_THAT(sandbox.done(format("replay --target {} --size 100 --seeds 2", tiny)),
              AllOf(HasSubstr("tiny N=100 on "), HasSubstr(": 8 configurations")));
  for (const char* form : {"kt", "t4"}) {
    const std::string file = std::string(form) + ".json";
    sandbox.done(
        format("db export --format {} --target {} --size 100 --output {}", form, tiny, file));
    const Ended replay = sandbox.run(format("replay {} --seeds 2", file));
    EXPECT_THAT(replay.out, HasSubstr("8 configurations")) << replay.err;
  }
  expect_refused(sandbox.run(format("db export --format kt --target {}", tiny)), 1,
                 {"2 problems", "N=100", "N=200", "--size"});
}

}  // namespace
}  // namespace autotune::testing
