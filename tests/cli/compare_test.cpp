// SPDX-License-Identifier: Apache-2.0
// autotune compare: winners elsewhere, and the fewest configurations for all.
#include "tuner/cli/cover.hpp"
#include "tuner/text/format.hpp"

#include "tests/cli/sentences.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::testing {
namespace {

/// Two recorded GPUs: BLOCK=16 STEP=4 is the best of one and 1.25x of the other.
void record(const Sandbox& sandbox, const std::string& gpu, double first, double second) {
  const Json cache{{"device_name", gpu},
                   {"tune_params_keys", {"BLOCK", "STEP"}},
                   {"tune_params", {{"BLOCK", {1, 16}}, {"STEP", {4}}}},
                   {"objective", {"time"}},
                   {"cache",
                    {{"16,4", {{"BLOCK", 16}, {"STEP", 4}, {"time", first}}},
                     {"1,4", {{"BLOCK", 1}, {"STEP", 4}, {"time", second}}}}}};
  const std::string file = sandbox.write(gpu + ".json", cache.dump()).string();
  sandbox.done(format("import kt '{}' --target @tiny --size 100", file));
}

TEST(Compare, WinnersAreJudgedElsewhereAndFewServeAll) {
  const Sandbox sandbox;
  record(sandbox, "NVIDIA RTX A4000", 2.0, 4.0);
  expect_refused(sandbox.run("compare --target @tiny"), 1, {"two problems"});
  record(sandbox, "NVIDIA H200", 1.25, 1.0);
  const std::string out = sandbox.done("compare --target @tiny");
  EXPECT_THAT(out, HasSubstr("   1.250x  N=100 on NVIDIA H200"));
  EXPECT_THAT(out, HasSubstr("   2.000x  N=100 on NVIDIA RTX A4000"));
  EXPECT_THAT(out, HasSubstr("2 configurations serve all 2 within 5 %"));
  const Json json = sandbox.json("compare --target @tiny --within 25%");
  ASSERT_EQ(json["cover"].size(), 1U);
  EXPECT_EQ(json["cover"][0]["config"], "BLOCK=16 STEP=4");
  EXPECT_EQ(json["is_least"], true);
}

TEST(Compare, LeavesOutWhatMeansNothingInAConfiguration) {
  const Sandbox sandbox;
  const Words gemm = "--target gemm --sizes 16,32 --device host --budget 1";
  sandbox.done(gemm);
  const Ended compared = sandbox.run("compare --target gemm");
  EXPECT_THAT(compared.out, HasSubstr("M=16 N=16 K=16 batch=1 on "));
  Words words = "cover --within 1000%";
  words += gemm;
  const Ended covered = sandbox.run(words);
  for (const Ended& ended : {compared, covered}) {
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("KERNEL="));
    for (const char* name : {"STAGES=", "layout="}) {
      EXPECT_THAT(ended.out, ::testing::Not(HasSubstr(name)));
    }
  }
}

const std::string kRecordedFiles = AUTOTUNE_SOURCE_DIR "/tests/tuner/replay/recorded/";
const std::string kPolygons = kRecordedFiles + "pnpoly-rtx3090.json.gz";

using Score = InSandbox;

TEST_F(Score, IsALineASpaceAndNamesThePackage) {
  EXPECT_THAT(sandbox.done(format("replay {} --score --trace {}", kPolygons,
                                  kRecordedFiles + "pnpoly-rtx3090-runs.txt.gz")),
              AllOf(HasSubstr("by the method of autotuning_methodology 1.1.0"),
                    HasSubstr("\npnpoly-rtx3090   0.23"), HasSubstr("  198          47.25 s")));
}

TEST_F(Score, OfWrittenRunsIsThatOfTheSearch) {
  const std::string searched = sandbox.done(format(
      "replay {} --score --strategy random --seeds 3 --write-trace runs.txt --json", kPolygons));
  const std::string read =
      sandbox.done(format("replay {} --score --trace runs.txt --json", kPolygons));
  const Json first = Json::parse(searched), second = Json::parse(read);
  EXPECT_EQ(first["method"], "autotuning_methodology 1.1.0");
  EXPECT_EQ(first["strategy"], "random");
  EXPECT_EQ(second["trace"], "runs.txt");
  EXPECT_NEAR(first["score"], second["score"], 1e-3);
  EXPECT_EQ(first["spaces"][0]["score"], first["score"]) << "the mean of one";
}

TEST_F(Score, NeedsTimes) {
  sandbox.write("bare.json", R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
                                 "cache": {"1": {"a": 1, "time": 4.0}, "2": {"a": 2, "time": 2.0}}})");
  expect_refused(sandbox.run("replay bare.json --score"), 1,
                 {"bare: 2 of 2 working configurations have no times", "--score"});
}

Words cover(const std::string& sizes, Words more) {
  Words words = tune("tiny", sizes);
  words.front() = "cover";
  for (std::string& word : more) words.push_back(std::move(word));
  return words;
}

using Cover = InSandbox;

TEST_F(Cover, OneThatMayLoseMuchServesEverySizeAndIsStored) {
  const std::string out = sandbox.done(cover("100,200,400", "--within 1000% --json"));
  const Json json = Json::parse(out);
  EXPECT_EQ(json["target"], "tiny");
  EXPECT_EQ(json["sizes"], 3);
  EXPECT_EQ(json["within"], 10);
  ASSERT_EQ(json["curve"].size(), 1U);
  EXPECT_EQ(json["curve"][0]["configurations"], 1);
  EXPECT_LE(json["curve"][0]["worst_loss"], 10);
  ASSERT_EQ(json["cover"].size(), 1U);
  EXPECT_EQ(json["cover"][0]["serves"].size(), 3U);
  for (const char* size : {"100", "200", "400"}) {
    const Ended query = sandbox.run(format("query --target @tiny --size {} --json", size));
    EXPECT_THAT(query.out, HasSubstr("\"pinned\"")) << size;
  }
}

TEST_F(Cover, BeginsWithWhatProgramsGetToday) {
  sandbox.done(tune("tiny", "100", "--budget 8"));
  const auto given = [&] {
    const std::string text = sandbox.done("query --target @tiny --size 104 --json");
    return Json::parse(text).at("results")[0].at("program").at("config");
  };
  const Json before = given();
  sandbox.done(cover("104,200", "--within 0% --budget 2"));
  EXPECT_EQ(given(), before) << "many times as fast as what a search tries first";
}

TEST_F(Cover, WithoutJsonTheTradeOffIsPrinted) {
  const std::string out = sandbox.done(cover("100,200", "--within 1000"));
  EXPECT_THAT(out, HasSubstr("1 configuration serves 2 sizes within 1000 %"));
  EXPECT_THAT(out, HasSubstr("configurations  worst loss  mean loss\n"));
  EXPECT_THAT(out, HasSubstr("BLOCK="));
}

TEST_F(Cover, OverASettingOneConfigurationLosesLeastAtWorst) {
  const Json groups =
      sandbox.json(tune("draws", "8x24x128,16x24x128", "--over draw --budget 3")).at("groups");
  ASSERT_EQ(groups.size(), 2U);
  for (const Json& group : groups) {
    EXPECT_EQ(group.at("over"), "draw");
    EXPECT_GE(group.at("worst_ratio"), group.at("mean_ratio"));
    ASSERT_EQ(group.at("serves").size(), 2U);
    for (const Json& one : group.at("serves")) EXPECT_EQ(one.at("config").at("WAY"), 2);
  }
  for (const char* draw : {"draw=0", "draw=1"}) {
    const std::string answer =
        sandbox.done(format("query --target @draws --size 8x24x128 --set {} --json", draw));
    EXPECT_THAT(answer, HasSubstr("\"pinned\"")) << draw;
    EXPECT_EQ(Json::parse(answer).at("results")[0].at("config").at("WAY"), 2) << draw;
  }
}

TEST_F(Cover, OverNeedsASettingWithAlikeValues) {
  const auto over = [&](const char* target, Words more) {
    more.insert(more.begin(), "--over");
    return sandbox.run(tune(target, "8x24x128", more));
  };
  expect_refused(over("draws", {"drew"}), 2, {"--over drew", "did you mean draw?"});
  expect_refused(over("draws", {"dtype"}), 2, {"--over dtype", "there are: draw"});
  expect_refused(over("orders", {"dtype"}), 2, {"--over dtype", "it has none"});
  expect_refused(over("draws", {"draw", "--set", "draw=1"}), 2, {"leave out --set draw"});
  expect_refused(over("draws", {"draw", "--bits", "stable"}), 2, {"--over", "--bits"});
  expect_refused(over("draws", {"draw", "--fix", "WAY=1"}), 2, {"--fix", "--over"});
}

TEST_F(Cover, WrongUseIsASentence) {
  expect_refused(sandbox.run(cover("100,200", "--within few")), 2, {"--within few", "3%"});
  expect_refused(sandbox.run(cover("100,200", "--within -1")), 2, {"--within -1"});
  expect_refused(sandbox.run(cover("100", {})), 2, {"cover needs two sizes or more"});
}

}  // namespace
}  // namespace autotune::testing
