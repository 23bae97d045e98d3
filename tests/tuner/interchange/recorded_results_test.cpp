// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/file_text.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
const fs::path kSamples = AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples";

fs::path written(const std::string& name, const std::string& text) {
  static const ScratchFolder folder;
  return folder.write(name, text);
}

std::string sample_text(const char* name) {
  return read_text_file(kSamples / name, std::size_t{1} << 20).text;
}

std::ptrdiff_t count(const RecordedResults& results, Outcome outcome) {
  return std::ranges::count(results.results, outcome, &RecordedResult::outcome);
}

void expect_the_sample(const RecordedResults& results) {
  ASSERT_EQ(results.results.size(), 12u);
  EXPECT_EQ(count(results, Outcome::ok), 10);
  EXPECT_EQ(count(results, Outcome::compile_error), 2);
  ASSERT_EQ(results.parameters.size(), 3u);
  EXPECT_EQ(results.parameters[0].name, "BLOCK");
  EXPECT_THAT(results.parameters[0].values, ElementsAre(16, 32, 64));
  EXPECT_THAT(results.parameters[2].values, UnorderedElementsAre("1.5", 2));
  EXPECT_EQ(results.results.front().samples, 3);
  EXPECT_GT(results.results.front().compile_seconds, 0);
  EXPECT_THAT(results.results.front().timestamp, HasSubstr("2026-"));
}

RecordedResults every_outcome() {
  RecordedResults results;
  results.device = "NVIDIA H200";
  results.kernel = "scale";
  results.problem_size = {512, 256};
  results.parameters = {{"BLOCK", {32, 64, 128, 256}, std::nullopt},
                        {"MODE", {"1.5", "near"}, std::nullopt}};
  results.results = {{{32, "near"}, Outcome::ok, 2e-3, 0.5, 1, "2026-11-22 10:00:00+00:00"},
                     {{64, "near"}, Outcome::pruned, 9e-3, 0.25, 1, ""},
                     {{128, "1.5"}, Outcome::compile_error},
                     {{256, "near"}, Outcome::invalid},
                     {{256, "1.5"}, Outcome::launch_error}};
  return results;
}

void expect_equal(const RecordedResults& read, const RecordedResults& written) {
  ASSERT_EQ(read.results.size(), written.results.size());
  for (std::size_t i = 0; i < read.results.size(); ++i) {
    EXPECT_EQ(read.results[i].values, written.results[i].values);
    EXPECT_EQ(read.results[i].outcome, written.results[i].outcome);
    EXPECT_DOUBLE_EQ(read.results[i].seconds.value_or(0), written.results[i].seconds.value_or(0));
    EXPECT_EQ(read.results[i].compile_seconds, written.results[i].compile_seconds);
    EXPECT_EQ(read.results[i].timestamp, written.results[i].timestamp);
  }
}

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
  EXPECT_REFUSAL(Error, seconds("furlongs"), "\"furlongs\" is no unit of time");
  EXPECT_REFUSAL(Error, seconds("", R"({"timeunit": "beats"})"),
                 "metadata.timeunit: is no unit of time");
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
  EXPECT_REFUSAL(Error, one_result("GFLOP/s", rate), "the objective \"GFLOP/s\" is no time");
}

TEST(KernelTunerCache, ACacheOfKernelTuner15IsRead) {
  const RecordedResults results = read_recorded_results(kSamples / "kernel_tuner_cache.json");
  expect_the_sample(results);
  EXPECT_EQ(results.kernel, "scale");
  EXPECT_THAT(results.problem_size, ElementsAre(100000));
  EXPECT_FALSE(results.is_cut_off);
}

TEST(KernelTunerCache, EarlierCachesHaveFailuresInPlaceOfTheTime) {
  const auto results = read_recorded_results(written("old.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, 2, 3]}, "objective": "time", "cache": {
    "1": {"a": 1, "time": "CompilationFailedConfig"}, "2": {"a": 2, "time": "RuntimeFailedConfig"},
    "3": {"a": 3, "time": 1e20}}})"));
  EXPECT_EQ(results.results[0].outcome, Outcome::compile_error);
  EXPECT_EQ(results.results[1].outcome, Outcome::launch_error);
  EXPECT_EQ(results.results[2].outcome, Outcome::ok);
}

TEST(KernelTunerCache, TheCostOfAConfigurationIsAllThatWasSpentOnIt) {
  const auto results = read_recorded_results(written("cost.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, 2, 3, 4]}, "cache": {
    "1": {"a": 1, "time": 2.0, "times": [1.0, 3.0], "compile_time": 100, "verification_time": 10,
          "benchmark_time": 50, "framework_time": 5, "strategy_time": 1},
    "2": {"a": 2, "time": 2.0, "compile_time": 100, "benchmark_time": 50},
    "3": {"a": 3, "time": "RuntimeFailedConfig", "compile_time": 100, "total_ms": 130},
    "4": {"a": 4, "time": 2.0}}})"));
  EXPECT_DOUBLE_EQ(results.results[0].total_seconds, 0.120) << "the runs, not the benchmark";
  EXPECT_DOUBLE_EQ(results.results[1].total_seconds, 0.150);
  EXPECT_DOUBLE_EQ(results.results[2].total_seconds, 0.130);
  EXPECT_DOUBLE_EQ(results.results[3].total_seconds, 0) << "unknown";
}

TEST(KernelTunerCache, OnlyTheTimeIsATimeWhateverTheObjectiveIs) {
  const auto read = [](const std::string& objective, const std::string& cache) {
    return read_recorded_results(
        written("objective.json", R"({"tune_params_keys": ["a"], "tune_params": {"a": [1, 2]},
                                     "objective": )" +
                                      objective + ", \"cache\": " + cache + "}"));
  };
  const auto two = read(R"(["energy", "time"])", R"({"1": {"a": 1, "time": 5.0, "energy": 3.0}})");
  EXPECT_DOUBLE_EQ(*two.results[0].seconds, 5e-3);
  const auto rate = read(R"("GFLOP/s")", R"({"1": {"a": 1, "time": 10.0, "GFLOP/s": 100.0},
                                             "2": {"a": 2, "GFLOP/s": "RuntimeFailedConfig"}})");
  EXPECT_DOUBLE_EQ(*rate.results[0].seconds, 1e-2);
  EXPECT_EQ(rate.results[1].outcome, Outcome::launch_error);
  EXPECT_REFUSAL(Error, read(R"("GFLOP/s")", R"({"1": {"a": 1, "GFLOP/s": 100.0}})"),
                 R"(objective.json: cache.1: there is no "time" beside the objective "GFLOP/s")");
}

TEST(KernelTunerCache, PythonsTrueIsOne) {
  const auto results = read_recorded_results(written("bool.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, true, false]}, "cache": {"1": {"a": true, "time": 5.0}}})"));
  EXPECT_THAT(results.parameters[0].values, ElementsAre(1, 0));
  EXPECT_THAT(results.results[0].values, ElementsAre(1));
}

TEST(KernelTunerCache, AWrittenCacheIsReadBack) {
  const RecordedResults results = every_outcome();
  const auto read = read_recorded_results(written("cache_back.json", kernel_tuner_cache(results)));
  expect_equal(read, results);
  EXPECT_EQ(read.device, results.device);
  EXPECT_EQ(read.kernel, results.kernel);
  EXPECT_EQ(read.problem_size, results.problem_size);
  EXPECT_EQ(read.parameters[0].values, results.parameters[0].values);
}

TEST(KernelTunerCache, AnOutcomeThatKernelTunerDoesNotKnowBecomesANearOne) {
  RecordedResults results = every_outcome();
  results.results = {{{32, "near"}, Outcome::wrong}, {{64, "near"}, Outcome::pruned}};
  const auto cache = read_recorded_results(written("near.json", kernel_tuner_cache(results)));
  EXPECT_EQ(cache.results[0].outcome, Outcome::launch_error);
  EXPECT_EQ(cache.results[1].outcome, Outcome::pruned) << "although it has no time";
}

/// What `gzip` makes of the line {"cache": 1}.
const unsigned char kPacked[] = {0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0xff, 0xab,
                                 0x56, 0x4a, 0x4e, 0x4c, 0xce, 0x48, 0x55, 0xb2, 0x52, 0x30, 0xac,
                                 0xe5, 0x02, 0x00, 0xbe, 0xf0, 0x14, 0xb0, 0x0d, 0x00, 0x00, 0x00};
const std::string kText = "{\"cache\": 1}\n";

fs::path written(const std::string& bytes) { return written("results.json.gz", bytes); }

const std::string packed(reinterpret_cast<const char*>(kPacked), sizeof kPacked);

TEST(Gzip, FilesAreUnpackedAndOthersReadAsTheyAre) {
  EXPECT_EQ(read_maybe_gzip(written(packed)), kText);
  EXPECT_EQ(read_maybe_gzip(written(kText)), kText);
  EXPECT_EQ(read_maybe_gzip(written("")), "");
}

TEST(Gzip, AFileThatUnpacksToManyTimesItsSizeIsRefused) {
  const fs::path file = written("");
  ASSERT_EQ(std::system(("head -c 40000000 /dev/zero | gzip > '" + file.string() + "'").c_str()),
            0);
  EXPECT_REFUSAL(Error, read_maybe_gzip(file), "has more than 16.00 MiB when unpacked");
}

TEST(Gzip, ADamagedOrMissingFileIsNamed) {
  std::string damaged = packed;
  damaged[packed.size() - 8] ^= 1;  // of the checksum
  EXPECT_REFUSAL(Error, read_maybe_gzip(written(damaged)), "results.json.gz");
  EXPECT_REFUSAL(Error, read_maybe_gzip(written(packed.substr(0, packed.size() - 10))),
                 "results.json.gz");
  EXPECT_REFUSAL(Error, read_maybe_gzip("none.json.gz"), "none.json.gz");
}

UnfinishedJson read(std::string_view text) { return parse_unfinished_json(text, "a.json"); }

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

TEST(UnfinishedJson, OtherMistakesAreErrorsOfTheWholeText) {
  EXPECT_REFUSAL(Error, read("{\"cache\": {\"1\": {]}}}"), "a.json");
  EXPECT_REFUSAL(Error, read("nothing"), "a.json");
}

TEST(RecordedValues, OfPythonAndJson) {
  EXPECT_EQ(value_of(Json(true)), Value(1));
  EXPECT_EQ(value_of(Json(-7)), Value(-7));
  EXPECT_EQ(value_of(Json(2.0)), Value(2));
  EXPECT_EQ(value_of(Json("half")), Value("half"));
  EXPECT_EQ(value_of(Json(0.5)), Value("0.5"));
  EXPECT_EQ(value_of(Json()), Value("null"));
  EXPECT_EQ(value_of(Json::array({1, 2})), Value("[1,2]"));
}

TEST(RecordedValues, ANumberThatFitsNoIntegerIsItsText) {
  const std::uint64_t large = std::uint64_t{1} << 63;
  EXPECT_EQ(value_of(Json(large)), Value("9223372036854775808"));
  EXPECT_EQ(value_of(Json(large - 1)), Value(std::numeric_limits<std::int64_t>::max()));
}

TEST(RecordedValues, AreWrittenAsTheyWereRead) {
  for (const Json& json : {Json(16), Json(0.5), Json("half"), Json("")}) {
    EXPECT_EQ(json_of(value_of(json)), json) << json;
  }
  EXPECT_EQ(json_of(Value("inf")), Json("inf"));  // JSON has no infinity
  EXPECT_EQ(json_of(Value("nan")), Json("nan"));
}

TEST(RecordedResults, ACacheThatIsCutOffAnywhereKeepsItsCompleteResults) {
  const std::string text = sample_text("kernel_tuner_cache.json");
  const std::size_t first = text.find("}", text.find("\"cache\""));
  std::size_t before = 1;
  for (std::size_t end = first + 1; end < text.size(); end += 61) {
    const auto file = written("cut.json", text.substr(0, end));
    const std::size_t complete = read_recorded_results(file).results.size();
    EXPECT_GE(complete, before);
    before = complete;
  }
  EXPECT_GE(before, 11u);
  const std::size_t last = text.rfind("\"16,1,2.0\"") + 20;
  EXPECT_TRUE(read_recorded_results(written("cut.json", text.substr(0, last))).is_cut_off);
  const std::size_t comma =
      text.find("},\n\"16,0,2.0\"") + 2;  // as a run that was killed leaves it
  const auto open = read_recorded_results(written("open.json", text.substr(0, comma)));
  EXPECT_EQ(open.results.size(), 1u);
  EXPECT_FALSE(open.is_cut_off);
}

}  // namespace
}  // namespace autotune
