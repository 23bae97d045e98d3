// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/kernel_tuner_cache.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/tuner/interchange/recorded_files.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using testing::every_outcome;
using testing::expect_equal;
using testing::expect_the_sample;
using ::testing::HasSubstr;
using testing::kSamples;
using ::testing::ThrowsMessage;
using testing::written;

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
  EXPECT_THAT(
      [&] { read(R"("GFLOP/s")", R"({"1": {"a": 1, "GFLOP/s": 100.0}})"); },
      ThrowsMessage<Error>(HasSubstr(
          R"(objective.json: cache.1: there is no "time" beside the objective "GFLOP/s")")));
}

TEST(KernelTunerCache, SharedMemoryIsReadWhereACacheHasIt) {
  const auto results = read_recorded_results(written("shared.json", R"({"tune_params_keys": ["a"],
    "tune_params": {"a": [1, 2, 3]}, "objective": "time", "cache": {
    "1": {"a": 1, "time": 5.0, "shared_bytes": 4096}, "2": {"a": 2, "time": 5.0},
    "3": {"a": 3, "time": "CompilationFailedConfig", "shared_bytes": 65536}}})"));
  EXPECT_EQ(results.results[0].shared_bytes, 4096);
  EXPECT_EQ(results.results[1].shared_bytes, -1);
  EXPECT_EQ(results.results[2].shared_bytes, 65536);
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

}  // namespace
}  // namespace autotune
