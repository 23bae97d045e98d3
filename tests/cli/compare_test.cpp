// SPDX-License-Identifier: Apache-2.0
// autotune compare: winners elsewhere, and the fewest configurations for all.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

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
  ASSERT_EQ(
      sandbox.run({"import", "kt", file, "--target", manifest_of("tiny"), "--size", "100"}).status,
      0);
}

TEST(Compare, WinnersAreJudgedElsewhereAndFewServeAll) {
  const Sandbox sandbox;
  record(sandbox, "NVIDIA RTX A4000", 2.0, 4.0);
  expect_refused(sandbox.run({"compare", "--target", manifest_of("tiny")}), 1, {"two problems"});
  record(sandbox, "NVIDIA H200", 1.25, 1.0);
  const Ended ended = sandbox.run({"compare", "--target", manifest_of("tiny")});
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("   1.250x  N=100 on NVIDIA H200"));
  EXPECT_THAT(ended.out, HasSubstr("   2.000x  N=100 on NVIDIA RTX A4000"));
  EXPECT_THAT(ended.out, HasSubstr("2 configurations serve all 2 within 5 %"));
  const Ended wide =
      sandbox.run({"compare", "--target", manifest_of("tiny"), "--within", "25%", "--json"});
  const Json json = Json::parse(wide.out);
  ASSERT_EQ(json["cover"].size(), 1U);
  EXPECT_EQ(json["cover"][0]["config"], "BLOCK=16 STEP=4");
  EXPECT_EQ(json["is_least"], true);
}

TEST(Compare, LeavesOutWhatMeansNothingInAConfiguration) {
  const Sandbox sandbox;
  const std::vector<std::string> gemm{"--target", "gemm", "--sizes",  "16,32",
                                      "--device", "host", "--budget", "1"};
  ASSERT_EQ(sandbox.run(gemm).status, 0);
  const Ended compared = sandbox.run({"compare", "--target", "gemm"});
  EXPECT_THAT(compared.out, HasSubstr("M=16 N=16 K=16 batch=1 on "));
  std::vector<std::string> words{"cover", "--within", "1000%"};
  words.insert(words.end(), gemm.begin(), gemm.end());
  const Ended covered = sandbox.run(words);
  for (const Ended& ended : {compared, covered}) {
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("KERNEL="));
    for (const char* name : {"STAGES=", "layout="}) {
      EXPECT_THAT(ended.out, ::testing::Not(HasSubstr(name)));
    }
  }
}

}  // namespace
}  // namespace autotune::testing
