// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/unfinished_json.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

UnfinishedJson read(std::string_view text) { return parse_unfinished_json(text, "a.json"); }

TEST(UnfinishedJson, AFinishedTextIsReadAsItIs) {
  const UnfinishedJson all = read(R"({"cache": {"1": {"time": 2}}})");
  EXPECT_EQ(all.json["cache"]["1"]["time"], 2);
  EXPECT_FALSE(all.is_cut_off);
}

TEST(UnfinishedJson, CompleteMembersOfAnOpenCacheAreRead) {
  for (const char* const end : {"", ",", ",\n", "\n}", "}"}) {
    const UnfinishedJson open =
        read(std::string(R"({"cache": {"1": {"time": 2}, "2": {"time": 3})") + end);
    EXPECT_EQ(open.json["cache"].size(), 2U) << end;
    EXPECT_FALSE(open.is_cut_off) << end;
  }
}

TEST(UnfinishedJson, APartOfAMemberIsLeftOutAndSaidSo) {
  const UnfinishedJson open =
      read(R"({"cache": {"1": {"time": 2, "of": [{"x": "}}"}]}, "2": {"time": )");
  EXPECT_EQ(open.json["cache"].size(), 1U);
  EXPECT_EQ(open.json["cache"]["1"]["of"][0]["x"], "}}");
  EXPECT_TRUE(open.is_cut_off);
}

TEST(UnfinishedJson, BracketsInTextsDoNotCount) {
  EXPECT_EQ(read(R"({"cache": {"{\"": {"a": "\\"}, "b)").json["cache"].size(), 1U);
}

TEST(UnfinishedJson, ACacheWithoutACompleteMemberIsEmpty) {
  EXPECT_TRUE(read(R"({"cache": {)").json["cache"].empty());
}

TEST(UnfinishedJson, OtherMistakesAreErrorsOfTheWholeText) {
  EXPECT_THAT([] { read("{\"cache\": {\"1\": {]}}}"); }, ThrowsMessage<Error>(HasSubstr("a.json")));
  EXPECT_THAT([] { read("nothing"); }, ThrowsMessage<Error>(HasSubstr("a.json")));
}

}  // namespace
}  // namespace autotune
