// SPDX-License-Identifier: Apache-2.0
// What tune and explain tell of a search that went badly.
#include <gmock/gmock.h>

#include "tests/cli/tool.hpp"
#include "tuner/cli/search_health_report.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// 32 configurations; those of BLOCK=16 do not compile. The model predicts the same time for all.
constexpr const char* kManifest = R"toml(manifest = 2
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
  const std::string manifest = sandbox.write("narrow.target.toml", kManifest).string();
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

TEST(SearchHealth, OfNoSearchNothingIsTold) { EXPECT_EQ(cli::health_text({}), ""); }

}  // namespace
}  // namespace autotune::testing
