// SPDX-License-Identifier: Apache-2.0
// autotune cover, end to end on the host device.
#include <gmock/gmock.h>

#include "tests/cli/sentences.hpp"
#include "tuner/json/json.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> cover(const std::string& sizes, std::vector<std::string> more) {
  std::vector<std::string> words = tune("tiny", sizes);
  words.front() = "cover";
  for (std::string& word : more) words.push_back(std::move(word));
  return words;
}

TEST(Cover, OneThatMayLoseMuchServesEverySizeAndIsStored) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(cover("100,200,400", {"--within", "1000%", "--json"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  const Json json = Json::parse(ended.out);
  EXPECT_EQ(json["target"], "tiny");
  EXPECT_EQ(json["sizes"], 3);
  EXPECT_EQ(json["within"], 10);
  ASSERT_EQ(json["curve"].size(), 1U);
  EXPECT_EQ(json["curve"][0]["configurations"], 1);
  EXPECT_LE(json["curve"][0]["worst_loss"], 10);
  ASSERT_EQ(json["cover"].size(), 1U);
  EXPECT_EQ(json["cover"][0]["serves"].size(), 3U);
  for (const char* size : {"100", "200", "400"}) {
    const Ended query =
        sandbox.run({"query", "--target", manifest_of("tiny"), "--size", size, "--json"});
    EXPECT_THAT(query.out, HasSubstr("\"pinned\"")) << size;
  }
}

TEST(Cover, WithoutJsonTheTradeOffIsPrinted) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(cover("100,200", {"--within", "1000"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("1 configuration serves 2 sizes within 1000 %"));
  EXPECT_THAT(ended.out, HasSubstr("configurations  worst loss  mean loss\n"));
  EXPECT_THAT(ended.out, HasSubstr("BLOCK="));
}

TEST(Cover, WrongUseIsASentence) {
  const Sandbox sandbox;
  expect_refused(sandbox.run(cover("100,200", {"--within", "few"})), 2, {"--within few", "3%"});
  expect_refused(sandbox.run(cover("100,200", {"--within", "-1"})), 2, {"--within -1"});
  expect_refused(sandbox.run(cover("100", {})), 2, {"cover needs two sizes or more"});
}

}  // namespace
}  // namespace autotune::testing
