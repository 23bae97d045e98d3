// SPDX-License-Identifier: Apache-2.0
// autotune replay --score: the table, JSON and files of runs.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kRecordedFiles = AUTOTUNE_SOURCE_DIR "/tests/tuner/replay/recorded/";
const std::string kPolygons = kRecordedFiles + "pnpoly-rtx3090.json.gz";

TEST(Score, IsALineASpaceAndNamesThePackage) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(
      {"replay", kPolygons, "--score", "--trace", kRecordedFiles + "pnpoly-rtx3090-runs.txt.gz"});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out,
              AllOf(HasSubstr("by the method of autotuning_methodology 1.1.0"),
                    HasSubstr("\npnpoly-rtx3090   0.23"), HasSubstr("  198          47.25 s")));
}

TEST(Score, OfWrittenRunsIsThatOfTheSearch) {
  const Sandbox sandbox;
  const Ended searched = sandbox.run({"replay", kPolygons, "--score", "--strategy", "random",
                                      "--seeds", "3", "--write-trace", "runs.txt", "--json"});
  ASSERT_EQ(searched.status, 0) << searched.err;
  const Ended read = sandbox.run({"replay", kPolygons, "--score", "--trace", "runs.txt", "--json"});
  ASSERT_EQ(read.status, 0) << read.err;
  const Json first = Json::parse(searched.out), second = Json::parse(read.out);
  EXPECT_EQ(first["method"], "autotuning_methodology 1.1.0");
  EXPECT_EQ(first["strategy"], "random");
  EXPECT_EQ(second["trace"], "runs.txt");
  EXPECT_NEAR(first["score"], second["score"], 1e-3);
  EXPECT_EQ(first["spaces"][0]["score"], first["score"]) << "the mean of one";
}

TEST(Score, NeedsTimes) {
  const Sandbox sandbox;
  sandbox.write("bare.json", R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
                                 "cache": {"1": {"a": 1, "time": 4.0}, "2": {"a": 2, "time": 2.0}}})");
  expect_refused(sandbox.run({"replay", "bare.json", "--score"}), 1,
                 {"bare: 2 of 2 working configurations have no times", "--score"});
}

}  // namespace
}  // namespace autotune::testing
