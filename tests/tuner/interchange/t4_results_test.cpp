// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/t4_results.hpp"

#include <gmock/gmock.h>

#include <string>

#include "tests/tuner/interchange/recorded_files.hpp"

namespace autotune {
namespace {

using testing::every_outcome;
using testing::expect_equal;
using testing::expect_the_sample;
using testing::kSamples;
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

}  // namespace
}  // namespace autotune
