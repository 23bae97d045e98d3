// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/recorded_results.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/interchange/kernel_tuner_cache.hpp"
#include "tuner/interchange/t4_results.hpp"
#include "tuner/text/file_text.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kSamples = AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples";

fs::path written(const std::string& name, const std::string& text) {
  const fs::path folder = fs::path(testing::TempDir()) / ("results_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / name;
  std::ofstream(file) << text;
  return file;
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
  EXPECT_THAT(results.parameters[2].values, testing::UnorderedElementsAre("1.5", 2));
  EXPECT_EQ(results.results.front().samples, 3);
  EXPECT_GT(results.results.front().compile_seconds, 0);
  EXPECT_THAT(results.results.front().timestamp, HasSubstr("2026-"));
}

TEST(RecordedResults, ACacheOfKernelTuner15IsRead) {
  const RecordedResults results = read_recorded_results(kSamples / "kernel_tuner_cache.json");
  expect_the_sample(results);
  EXPECT_EQ(results.kernel, "scale");
  EXPECT_THAT(results.problem_size, ElementsAre(100000));
  EXPECT_FALSE(results.is_cut_off);
}

TEST(RecordedResults, T4ResultsOfKernelTuner15AreRead) {
  expect_the_sample(read_recorded_results(kSamples / "t4_results.json"));
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

TEST(RecordedResults, EarlierCachesHaveFailuresInPlaceOfTheTime) {
  const auto results = read_recorded_results(written("old.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, 2, 3]}, "objective": "time", "cache": {
    "1": {"a": 1, "time": "CompilationFailedConfig"}, "2": {"a": 2, "time": "RuntimeFailedConfig"},
    "3": {"a": 3, "time": 1e20}}})"));
  EXPECT_EQ(results.results[0].outcome, Outcome::compile_error);
  EXPECT_EQ(results.results[1].outcome, Outcome::launch_error);
  EXPECT_EQ(results.results[2].outcome, Outcome::ok);
}

TEST(RecordedResults, TheFirstObjectiveOfAListCounts) {
  const auto results = read_recorded_results(written("two.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1]}, "objective": ["energy", "time"],
    "cache": {"1": {"a": 1, "time": 5.0, "energy": 3.0}}})"));
  EXPECT_DOUBLE_EQ(*results.results[0].seconds, 3e-3);
}

TEST(RecordedResults, SharedMemoryIsReadWhereACacheHasIt) {
  const auto results = read_recorded_results(written("shared.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, 2, 3]}, "objective": "time", "cache": {
    "1": {"a": 1, "time": 5.0, "shared_bytes": 4096}, "2": {"a": 2, "time": 5.0},
    "3": {"a": 3, "time": "CompilationFailedConfig", "shared_bytes": 65536}}})"));
  EXPECT_EQ(results.results[0].shared_bytes, 4096);
  EXPECT_EQ(results.results[1].shared_bytes, -1);
  EXPECT_EQ(results.results[2].shared_bytes, 65536);
}

TEST(RecordedResults, PythonsTrueIsOne) {
  const auto results = read_recorded_results(written("bool.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, true, false]}, "cache": {"1": {"a": true, "time": 5.0}}})"));
  EXPECT_THAT(results.parameters[0].values, ElementsAre(1, 0));
  EXPECT_THAT(results.results[0].values, ElementsAre(1));
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

TEST(RecordedResults, AWrittenCacheIsReadBack) {
  const RecordedResults results = every_outcome();
  const auto read = read_recorded_results(written("cache_back.json", kernel_tuner_cache(results)));
  expect_equal(read, results);
  EXPECT_EQ(read.device, results.device);
  EXPECT_EQ(read.kernel, results.kernel);
  EXPECT_EQ(read.problem_size, results.problem_size);
  EXPECT_EQ(read.parameters[0].values, results.parameters[0].values);
}

TEST(RecordedResults, WrittenT4ResultsAreReadBack) {
  expect_equal(read_recorded_results(written("t4_back.json", t4_results(every_outcome()))),
               every_outcome());
}

TEST(RecordedResults, AnOutcomeThatKernelTunerDoesNotKnowBecomesANearOne) {
  RecordedResults results = every_outcome();
  results.results = {{{32, "near"}, Outcome::wrong}, {{64, "near"}, Outcome::pruned}};
  const auto cache = read_recorded_results(written("near.json", kernel_tuner_cache(results)));
  EXPECT_EQ(cache.results[0].outcome, Outcome::launch_error);
  EXPECT_EQ(cache.results[1].outcome, Outcome::invalid);
  const auto t4 = read_recorded_results(written("near_t4.json", t4_results(results)));
  EXPECT_EQ(t4.results[0].outcome, Outcome::wrong);
}

}  // namespace
}  // namespace autotune
