// SPDX-License-Identifier: Apache-2.0
// Real numbers, words as text and C++ names, from the manifest to the database and back.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kValuesManifest = R"toml(manifest = 2
name = "scaled"
source = ["scaled.cu", "reference.cu"]
sizes = ["N"]
parameters.SUM = { values = ["float", "const double"], as = "text" }
parameters.SHARE = { from = 0.25, to = 0.5, step = 0.25 }
parameters.FAST = [false, true]
parameters.STD = { values = [17, 20], when = "FAST" }
options = ["-std=c++{STD}", { option = "-use_fast_math", when = "FAST" }]
default = { SHARE = 0.5, FAST = true }
arguments.x = { type = "f32x2", length = "N" }
arguments.y = { type = "f32x2", length = "N", role = "output", tolerance = 2 }
launch = { block = 1, arguments = ["x", "y", "N"] }
[kernels.scaled]
entry = "ns::scaled<{SUM}, {FAST}>"
grid = "int(1 / SHARE)"
[reference.kernels.right]
entry = "::right"
grid = 1
)toml";

constexpr const char* kValuesSource = R"(namespace ns {
template <class SUM, bool FAST>  // no macros, so one text has several entries
__global__ void scaled(const float2* x, float2* y, int n) {
  SUM share = SHARE;
  const int count = (int)(n * share), first = blockIdx.x * count;
  const int last = blockIdx.x + 1 == gridDim.x ? n : first + count;
  for (int i = first; i < last; ++i) y[i] = make_float2((SUM)x[i].x * 2, (SUM)x[i].y * 2);
}
}
)";

constexpr const char* kReference = R"(__global__ void right(const float2* x, float2* y, int n) {
  for (int i = 0; i < n; ++i) y[i] = make_float2(x[i].x * 2, x[i].y * 2);
}
)";

TEST(Values, OfAllKindsAreTunedStoredAndFoundAgain) {
  const Sandbox sandbox;
  sandbox.write("scaled.cu", kValuesSource);
  sandbox.write("reference.cu", kReference);
  const std::string manifest = sandbox.write("scaled.target.toml", kValuesManifest).string();
  const auto tuned = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"tune",       "--target",   manifest,   "--sizes",
                                      "1000",       "--json",     "--device", "host",
                                      "--strategy", "exhaustive", "--budget", "100%"};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = sandbox.run(words);
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json::parse(ended.out)["problems"][0];
  };
  const Json first = tuned({});
  EXPECT_EQ(first["space"], 12);
  EXPECT_EQ(first["trials"]["ok"].get<int>() + first["trials"]["pruned"].get<int>(), 12);
  const Json best = first["best"]["config"];
  EXPECT_TRUE(best["SHARE"].is_number_float()) << best;
  EXPECT_TRUE(best["SUM"].is_string()) << best;
  EXPECT_EQ(tuned({})["taken_over"], 12);
  const Json fixed = tuned({"--fix", "SHARE=0.25", "--fix", "FAST=false"});
  EXPECT_EQ(fixed["space"], 2);
  EXPECT_EQ(fixed["best"]["config"]["SHARE"], 0.25);
}

}  // namespace
}  // namespace autotune::testing
