// SPDX-License-Identifier: Apache-2.0
// autotune explain: what it tells of a tuned problem, and what it refuses.
#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/cli/explanation_report.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

std::vector<std::string> explain(const std::string& size,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"explain", "--target", manifest_of("tiny"), "--size", size};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Explain, TellsTheBestItsLosersAndHowManyWereTried) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "8"})).status, 0);
  const Ended ended = sandbox.run(explain("100"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("N=100"));
  EXPECT_THAT(ended.out, HasSubstr("measured"));
  EXPECT_THAT(ended.out, HasSubstr("predicted"));
  EXPECT_THAT(ended.out, HasSubstr("tried       8"));
  EXPECT_THAT(ended.out, HasSubstr("the rank correlation of predicted and measured times of 8 "));

  const Ended as_json = sandbox.run(explain("100", {"--losers", "1", "--json"}));
  const Json json = Json::parse(as_json.out)[0];
  EXPECT_EQ(json["problem"], "N=100");
  EXPECT_EQ(json["tried"], 8);
  EXPECT_LE(json["losers"].size(), 1U);
  EXPECT_FALSE(json.contains("roofs"));  // of a CPU
  EXPECT_EQ(json["ranked"], 8);
  EXPECT_EQ(ended.out.find("misleads"), std::string::npos) << "8 times do not convict a model";
}

TEST(Explain, DrawsTheTimesOfAHostResult) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "8"})).status, 0);
  const Ended ended = sandbox.run(explain("100"));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("timed configurations, fastest first"));
}

/// On the model of an H200.
Ended explained(const std::string& target, const std::vector<std::string>& more = {}) {
  const Sandbox sandbox;
  const Ended tuned = sandbox.run({"tune", "--target", target, "--sizes", "1024", "--device",
                                   "model:h200", "--budget", "3", "--quiet"});
  EXPECT_EQ(tuned.status, 0) << tuned.err;
  std::vector<std::string> arguments{"explain", "--target", target, "--size", "1024"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return sandbox.run(arguments);
}

TEST(Explain, DrawsTheRoofsOfBothUnits) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended ended = explained("gemm_tf32");
  EXPECT_EQ(ended.status, 0) << ended.err;
  for (const char* text :
       {"tensor cores", "2 products on tensor cores",
        "FMA 66.91 TFLOP/s, tensor cores 535.3 TFLOP/s", "FMA roof", "tensor and L2 roofs"}) {
    EXPECT_THAT(ended.out, HasSubstr(text));
  }
}

TEST(Explain, TensorCoresHaveNoRoofWhereNothingUsesThem) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const Ended ended = explained("convolution_2d", {"--json"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  const Json json = Json::parse(ended.out)[0];
  EXPECT_GT(json["roofs"]["fma"], 6e13);
  EXPECT_TRUE(json["roofs"]["tensor_cores"].is_null());
  EXPECT_EQ(json["predicted"]["terms"]["tensor cores"], 0);
}

TEST(Explain, RefusesWhatIsNotTuned) {
  const Sandbox sandbox;
  expect_refused(sandbox.run(explain("100")), 1, {"tuned.db", "no such file"});
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "3"})).status, 0);
  expect_refused(sandbox.run(explain("200")), 1, {"200", "not tuned", "--sizes 200"});
  expect_refused(sandbox.run(explain("100", {"--device", "GPU"})), 1, {"GPU"});
  expect_refused(sandbox.run(explain("100", {"--losers", "-1"})), 2, {"--losers", "-1"});
}

/// 32 configurations; those of BLOCK=16 do not compile. The model predicts the same time for all.
constexpr const char* kHealthManifest = R"toml(manifest = 2
name = "narrow"
description = "y = 2 x + 1"
source = "narrow.cu"
sizes = ["N"]
parameters.BLOCK = [1, 16]
parameters.STEP.run_time = true
parameters.STEP.values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
arguments.x = { type = "i32", length = "N" }
arguments.y = { type = "i32", length = "N", role = "output" }
kernels.narrow.grid = ["ceil_div(N, BLOCK * STEP)"]
kernels.narrow.block = ["BLOCK"]
kernels.narrow.arguments = ["x", "y", "STEP", "N"]
reference.kernels = { reference = { grid = [1], block = [1], arguments = ["x", "y", "N"] } }
reference.outputs = "f64"
)toml";

constexpr const char* kSource = R"(
#if defined(BLOCK) && BLOCK == 16
#error too wide
#endif
#ifndef BLOCK
#define BLOCK 1
#endif
extern "C" __global__ void narrow(const int* x, int* y, int step, int n) {
  const int first = (blockIdx.x * BLOCK + threadIdx.x) * step;
  for (int i = first; i < first + step && i < n; ++i) y[i] = 2 * x[i] + 1;
}
extern "C" __global__ void reference(const int* x, int* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = 2 * x[i] + 1;
}
)";

TEST(SearchHealthReport, TuneAndExplainTellOfFailuresAndWhatToDo) {
  const Sandbox sandbox;
  sandbox.write("narrow.cu", kSource);
  const std::string manifest = sandbox.write("narrow.target.toml", kHealthManifest).string();
  const Ended tuned = sandbox.run({"tune", "--device", "host", "--target", manifest, "--sizes",
                                   "64", "--strategy", "exhaustive", "--budget", "100%"});
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr("failures: 16 of 32 (50 %), 16 of them compile_error: "));
  EXPECT_THAT(tuned.out, HasSubstr("a constraint in the manifest"));
  EXPECT_THAT(tuned.out, Not(HasSubstr("still improving"))) << "everything was tried";

  const std::vector<std::string> explain = {"explain", "--target", manifest, "--size", "64"};
  const Ended explained = sandbox.run(explain);
  EXPECT_THAT(explained.out, HasSubstr("failures    16 of 32 (50 %), 16 of them compile_error: "));
  EXPECT_THAT(explained.out, HasSubstr("progress    the last quarter of 32 evaluations"));
}

TEST(SearchHealthReport, JsonOfBothHasTheFigures) {
  const Sandbox sandbox;
  const Ended tuned = sandbox.run(tune("tiny", "100", {"--budget", "8", "--json"}));
  ASSERT_EQ(tuned.status, 0) << tuned.err;
  const Json search = Json::parse(tuned.out)["problems"][0]["search"];
  EXPECT_EQ(search["tried"], 8);
  EXPECT_EQ(search["failed"], 0);
  EXPECT_TRUE(search["main_failure"].is_null());
  EXPECT_TRUE(search["last_quarter_gain"].is_null()) << "too few evaluations";
  EXPECT_EQ(search["still_improves"], false);

  const Ended explained =
      sandbox.run({"explain", "--target", manifest_of("tiny"), "--size", "100", "--json"});
  const Json document = Json::parse(explained.out)[0];
  EXPECT_EQ(document["search"]["ranked"], document["ranked"]);
  EXPECT_EQ(document["search"]["tried"], 8);
}

}  // namespace
}  // namespace autotune::testing
