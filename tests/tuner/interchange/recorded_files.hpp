// SPDX-License-Identifier: Apache-2.0
// Files of recorded results, and what is in them.
#pragma once

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include "tuner/interchange/recorded_results.hpp"
#include "tuner/text/file_text.hpp"

namespace autotune::testing {

namespace fs = std::filesystem;

inline const fs::path kSamples = AUTOTUNE_SOURCE_DIR "/tests/tuner/interchange/samples";

inline fs::path written(const std::string& name, const std::string& text) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("results_" + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path file = folder / name;
  std::ofstream(file) << text;
  return file;
}

inline std::string sample_text(const char* name) {
  return read_text_file(kSamples / name, std::size_t{1} << 20).text;
}

inline std::ptrdiff_t count(const RecordedResults& results, Outcome outcome) {
  return std::ranges::count(results.results, outcome, &RecordedResult::outcome);
}

inline void expect_the_sample(const RecordedResults& results) {
  ASSERT_EQ(results.results.size(), 12u);
  EXPECT_EQ(count(results, Outcome::ok), 10);
  EXPECT_EQ(count(results, Outcome::compile_error), 2);
  ASSERT_EQ(results.parameters.size(), 3u);
  EXPECT_EQ(results.parameters[0].name, "BLOCK");
  EXPECT_THAT(results.parameters[0].values, ::testing::ElementsAre(16, 32, 64));
  EXPECT_THAT(results.parameters[2].values, ::testing::UnorderedElementsAre("1.5", 2));
  EXPECT_EQ(results.results.front().samples, 3);
  EXPECT_GT(results.results.front().compile_seconds, 0);
  EXPECT_THAT(results.results.front().timestamp, ::testing::HasSubstr("2026-"));
}

inline RecordedResults every_outcome() {
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

inline void expect_equal(const RecordedResults& read, const RecordedResults& written) {
  ASSERT_EQ(read.results.size(), written.results.size());
  for (std::size_t i = 0; i < read.results.size(); ++i) {
    EXPECT_EQ(read.results[i].values, written.results[i].values);
    EXPECT_EQ(read.results[i].outcome, written.results[i].outcome);
    EXPECT_DOUBLE_EQ(read.results[i].seconds.value_or(0), written.results[i].seconds.value_or(0));
    EXPECT_EQ(read.results[i].compile_seconds, written.results[i].compile_seconds);
    EXPECT_EQ(read.results[i].timestamp, written.results[i].timestamp);
  }
}

}  // namespace autotune::testing
