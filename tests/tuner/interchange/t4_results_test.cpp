// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t4_results.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/tuner/interchange/recorded_files.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::every_outcome;
using testing::expect_equal;
using testing::expect_the_sample;
using ::testing::HasSubstr;
using testing::kSamples;
using ::testing::ThrowsMessage;
using testing::written;

TEST(T4Results, T4ResultsOfKernelTuner15AreRead) {
  expect_the_sample(read_recorded_results(kSamples / "t4_results.json"));
}

TEST(T4Results, WrittenT4ResultsAreReadBack) {
  expect_equal(read_recorded_results(written("t4_back.json", t4_results(every_outcome()))),
               every_outcome());
}

TEST(T4Results, AWrongResultStaysWrong) {
  RecordedResults results = every_outcome();
  results.results = {{{32, "near"}, Outcome::wrong}};
  const auto read = read_recorded_results(written("near_t4.json", t4_results(results)));
  EXPECT_EQ(read.results[0].outcome, Outcome::wrong);
}

TEST(T4Results, APrunedResultWithoutATimeStaysPruned) {
  RecordedResults results = every_outcome();
  results.results = {{{32, "near"}, Outcome::pruned}, {{64, "near"}, Outcome::invalid}};
  const auto read = read_recorded_results(written("pruned_t4.json", t4_results(results)));
  EXPECT_EQ(read.results[0].outcome, Outcome::pruned);
  EXPECT_EQ(read.results[1].outcome, Outcome::invalid);
}

RecordedResults one_result(const std::string& objective, const std::string& measurements,
                           const std::string& metadata = "{}") {
  return read_recorded_results(written(
      "one_t4.json", R"({"schema_version": "1.0.0", "metadata": )" + metadata +
                         R"(, "results": [{"configuration": {"a": 1}, "invalidity": "correct",
                              "times": {"compilation": 2}, "objectives": [")" +
                         objective + "\"], \"measurements\": [" + measurements + "]}]}"));
}

TEST(T4Results, TimesAreReadInTheUnitsThatTheFileGives) {
  const auto seconds = [](const std::string& unit, const std::string& metadata = "{}") {
    return *one_result("time", R"({"name": "time", "value": 4, "unit": ")" + unit + "\"}", metadata)
                .results[0]
                .seconds;
  };
  EXPECT_DOUBLE_EQ(seconds("s"), 4);
  EXPECT_DOUBLE_EQ(seconds("ms"), 4e-3);
  EXPECT_DOUBLE_EQ(seconds("microseconds"), 4e-6);
  EXPECT_DOUBLE_EQ(seconds("ns"), 4e-9);
  EXPECT_DOUBLE_EQ(seconds(""), 4e-3);
  EXPECT_DOUBLE_EQ(seconds("", R"({"timeunit": "seconds"})"), 4);
  EXPECT_DOUBLE_EQ(seconds("us", R"({"timeunit": "seconds"})"), 4e-6);
  EXPECT_DOUBLE_EQ(one_result("time", R"({"name": "time", "value": 4, "unit": ""})",
                              R"({"timeunit": "microseconds"})")
                       .results[0]
                       .compile_seconds,
                   2e-6);
  EXPECT_THAT([&] { seconds("furlongs"); },
              ThrowsMessage<Error>(HasSubstr("\"furlongs\" is no unit of time")));
  EXPECT_THAT([&] { seconds("", R"({"timeunit": "beats"})"); },
              ThrowsMessage<Error>(HasSubstr("metadata.timeunit: is no unit of time")));
}

TEST(T4Results, TheCostOfAConfigurationIsAllThatWasSpentOnIt) {
  const auto results = read_recorded_results(written("cost_t4.json", R"({
    "metadata": {"timeunit": "seconds"}, "results": [
    {"configuration": {"a": 1}, "invalidity": "compile", "measurements": [],
     "times": {"compilation": 2, "benchmark": 0.5, "framework": 0.25, "search_algorithm": 0.125,
               "validation": 1, "runtimes": [4, 8]}},
    {"configuration": {"a": 2}, "invalidity": "compile", "measurements": [],
     "times": {"compilation_time": 2, "benchmark": 0.5}}]})"));
  EXPECT_DOUBLE_EQ(results.results[0].total_seconds, 15.375) << "the runs, not the benchmark";
  EXPECT_DOUBLE_EQ(results.results[1].compile_seconds, 2);
  EXPECT_DOUBLE_EQ(results.results[1].total_seconds, 2.5);
}

TEST(T4Results, OnlyATimeIsATimeWhateverTheObjectiveIs) {
  const std::string rate = R"({"name": "GFLOP/s", "value": 100, "unit": "GFLOP/s"})";
  const std::string time = R"({"name": "time", "value": 10, "unit": "ms"})";
  EXPECT_DOUBLE_EQ(*one_result("GFLOP/s", rate + ", " + time).results[0].seconds, 1e-2);
  EXPECT_DOUBLE_EQ(*one_result("kernel", R"({"name": "kernel", "value": 3, "unit": "us"}, )" + time)
                        .results[0]
                        .seconds,
                   3e-6);
  EXPECT_THAT([&] { one_result("GFLOP/s", rate); },
              ThrowsMessage<Error>(HasSubstr("the objective \"GFLOP/s\" is no time")));
}

}  // namespace
}  // namespace autotune
