// SPDX-License-Identifier: Apache-2.0
// autotune explain: what it tells of a tuned problem, and what it refuses.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

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
  ASSERT_EQ(sandbox.run(tune("tiny", "100,200", {"--budget", "8"})).status, 0);
  const Ended ended = sandbox.run(explain("100,200", {"--svg", "times.svg"}));
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("timed configurations, fastest first"));
  std::ifstream file(sandbox.folder() / "times.svg");
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(svg, HasSubstr("viewBox=\"0 0 960 360\""));
  for (const char* text :
       {">tiny N=100 on ", ">tiny N=200 on ", " default<", " tried<", " best<"}) {
    EXPECT_THAT(svg, HasSubstr(text));
  }
  EXPECT_THAT(svg, HasSubstr("<circle "));
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

TEST(Explain, APictureNeverTakesThePlaceOfADatabase) {
  const Sandbox sandbox;
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "3"})).status, 0);
  const Ended ended = sandbox.run(explain("100", {"--svg", sandbox.database().string()}));
  EXPECT_EQ(ended.status, 2);
  EXPECT_THAT(ended.err, HasSubstr("tuned.db: is a database"));
  EXPECT_EQ(sandbox.run({"db", "check"}).status, 0);
}

TEST(Explain, RefusesWhatIsNotTuned) {
  const Sandbox sandbox;
  expect_refused(sandbox.run(explain("100")), 1, {"tuned.db", "no such file"});
  ASSERT_EQ(sandbox.run(tune("tiny", "100", {"--budget", "3"})).status, 0);
  expect_refused(sandbox.run(explain("200")), 1, {"200", "not tuned", "--sizes 200"});
  expect_refused(sandbox.run(explain("100", {"--device", "GPU"})), 1, {"GPU"});
  expect_refused(sandbox.run(explain("100", {"--losers", "-1"})), 2, {"--losers", "-1"});
}

}  // namespace
}  // namespace autotune::testing
