// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/recorded_space.hpp"

#include <gmock/gmock.h>

#include <limits>

#include "tests/tuner/replay/small_space.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::kT4;
using testing::written;

constexpr const char* kCache = R"({"tune_params_keys": ["a", "b"],
  "tune_params": {"a": [1, 2], "b": ["x", "y"]}, "objective": "time", "cache": {
  "1,x": {"a": 1, "b": "x", "time": 4.0}, "1,y": {"a": 1, "b": "y", "time": 2.0},
  "2,x": {"a": 2, "b": "x", "time": "CompilationFailedConfig"})";

void expect_the_small_space(const RecordedSpace& recorded) {
  ASSERT_EQ(recorded.space.size(), 3u);
  EXPECT_EQ(recorded.failures(), 1u);
  EXPECT_DOUBLE_EQ(recorded.best(), 2e-3);
  const auto failed = recorded.space.find(Configuration{{"a", 2}, {"b", "x"}});
  ASSERT_TRUE(failed);
  EXPECT_EQ(recorded.answers[*failed].outcome, Outcome::compile_error);
  EXPECT_FALSE(recorded.space.find(Configuration{{"a", 2}, {"b", "y"}}));
}

TEST(RecordedSpace, ReadsAKernelTunerCache) {
  const RecordedSpace recorded =
      read_recorded_space(written("small.json", std::string(kCache) + "}}"));
  EXPECT_EQ(recorded.name, "small");
  expect_the_small_space(recorded);
}

TEST(RecordedSpace, ReadsACacheAsAnInterruptedRunLeavesIt) {
  expect_the_small_space(read_recorded_space(written("open.json", std::string(kCache) + ",\n")));
}

TEST(RecordedSpace, TooMuchSharedMemoryIsRefusedInTheCompilersWords) {
  const RecordedSpace recorded = read_recorded_space(written(
      "shared.json", R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2, 3]}, "cache": {
      "1": {"a": 1, "time": 5.0, "shared_bytes": 4096},
      "2": {"a": 2, "time": "CompilationFailedConfig", "shared_bytes": 65536},
      "3": {"a": 3, "time": "CompilationFailedConfig"}}})"));
  EXPECT_EQ(recorded.answers[0].resources.shared_bytes, 4096);
  EXPECT_EQ(recorded.answers[0].reason, "");
  EXPECT_EQ(recorded.answers[1].reason, "uses too much shared data (65536 bytes, 49152 max)");
  EXPECT_EQ(recorded.answers[2].reason, "");
}

TEST(RecordedSpace, ReadsT4Results) {
  expect_the_small_space(read_recorded_space(written("t4.json", kT4)));
}

TEST(RecordedSpace, WhatIsWrongIsToldWithTheFile) {
  const auto message = [](const fs::path& file) -> std::string {
    try {
      read_recorded_space(file);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message("/nowhere/x.json"), HasSubstr("/nowhere/x.json: cannot be read"));
  EXPECT_THAT(message(written("broken.json", "{")), HasSubstr("parse error"));
  EXPECT_THAT(message(written("other.json", "{}")), HasSubstr("neither a Kernel Tuner cache"));
  EXPECT_THAT(message(written("cut.json", R"({"cache": {}})")),
              HasSubstr("cut.json: \"tune_params\" is missing"));
  EXPECT_THAT(message(written("type.json", R"({"cache": {}, "tune_params": {"a": 3},
                                              "tune_params_keys": ["a"]})")),
              HasSubstr("type.json: tune_params.a: expected an array, got number"));
  EXPECT_THAT(message(written("row.json", R"({"cache": {"1": [2]}, "tune_params": {"a": [1]},
                                             "tune_params_keys": ["a"]})")),
              HasSubstr("row.json: cache.1: expected an object, got array"));
  EXPECT_THAT(message(written("t4.json", R"({"results": [{"configuration": {"a": 1},
                                            "objectives": [], "measurements": []}]})")),
              HasSubstr("t4.json: results[0].objectives: has 0 items"));
  EXPECT_THAT(message(written("large.json", "{\"cache\": {},\n  \"objective\": 1e400}")),
              HasSubstr("large.json: parse error at line 2, column 16: the number 1e400"));
  EXPECT_THAT(
      message(written("empty.json", R"({"tune_params_keys": [], "tune_params": {}, "cache": {}})")),
      HasSubstr("holds no configuration"));
  EXPECT_THAT(message(::testing::TempDir()), HasSubstr("is a folder"));
}

TEST(RecordedSpace, OfResultsWithTheSameValuesTheLastCounts) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {2}, .seconds = 3.0}, {.values = {2}, .seconds = 5.0}};
  const RecordedSpace recorded = recorded_space("twice", results);
  ASSERT_EQ(recorded.space.size(), 1u);
  EXPECT_EQ(recorded.best(), 5);
}

TEST(RecordedSpace, AValueThatIsNotListedIsAnError) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {4}, .seconds = 3.0}};
  EXPECT_THAT([&] { recorded_space("other", results); },
              ::testing::ThrowsMessage<Error>(HasSubstr("has the value 4, which its parameter")));
}

TEST(RecordedSpace, WithoutASuccessThereIsNoBest) {
  RecordedResults results;
  results.parameters = {{.name = "a", .values = {1, 2}, .when = {}}};
  results.results = {{.values = {1}, .outcome = Outcome::crash, .seconds = {}}};
  const RecordedSpace recorded = recorded_space("bad", results);
  EXPECT_EQ(recorded.best(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(recorded.failures(), 1u);
}

}  // namespace
}  // namespace autotune
