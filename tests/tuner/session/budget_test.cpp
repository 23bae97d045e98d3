// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/tuning_request.hpp"

#include <gtest/gtest.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Budget, ReadsEvaluationsShareAndTime) {
  EXPECT_EQ(parse_budget("200").evaluations(1000), 200u);
  EXPECT_EQ(parse_budget("200").evaluations(50), 50u);
  EXPECT_EQ(parse_budget("10%").evaluations(1000), 100u);
  EXPECT_EQ(parse_budget("0.1%").evaluations(100), 1u);
  EXPECT_EQ(parse_budget("60s").evaluations(1000), 1000u);
  EXPECT_DOUBLE_EQ(parse_budget("2m").amount, 120);
  EXPECT_EQ(parse_budget("auto").evaluations(100000), 400u);
  EXPECT_EQ(parse_budget("auto").evaluations(50), 50u);
}

TEST(Budget, RefusesEverythingElse) {
  for (const char* text :
       {"", "0", "-3", "1.5", "200x", "101%", "s", "inf", "nan%", "10 %", "automatic"}) {
    EXPECT_THROW(parse_budget(text), UsageError) << text;
  }
}

/// Of one of two problems with 100 evaluations each.
Progress at(const char* problem, std::size_t done, std::optional<double> best = {}) {
  Progress progress;
  progress.problems = 2;
  progress.problem_text = problem;
  progress.done = done;
  progress.total = 100;
  progress.best_seconds = best;
  return progress;
}

TEST(RunProgress, WhatIsLeftTakesAsLongAsWhatWasDone) {
  RunProgress run;
  run.note(at("a", 0), 10);
  EXPECT_FALSE(run.seconds_left(10));
  run.note(at("a", 50), 15);  // a quarter of all in 5 s
  EXPECT_DOUBLE_EQ(run.seconds_left(15).value(), 15);
  run.note_end_of("a", 16);  // before its budget was spent
  EXPECT_DOUBLE_EQ(run.seconds_left(16).value(), 6);
  run.note(at("b", 100), 20);
  EXPECT_FALSE(run.seconds_left(20));
}

TEST(RunProgress, StoredEvaluationsTookNoTime) {
  RunProgress run;
  run.note(at("a", 80), 0);
  run.note(at("a", 90), 1);
  EXPECT_DOUBLE_EQ(run.seconds_left(1).value(), 11);  // 110 more, ten a second
}

TEST(RunProgress, ABudgetOfTimeEndsByTheClock) {
  RunProgress run(60);
  run.note(at("a", 1), 20);
  EXPECT_DOUBLE_EQ(run.seconds_left(20).value(), 40);
  EXPECT_DOUBLE_EQ(run.seconds_left(70).value(), 0);
  run.note_end_of("a", 70);
  run.note_end_of("b", 75);
  EXPECT_FALSE(run.seconds_left(75));
}

TEST(RunProgress, TheBestHasItsPlaceAndTheFirstBest) {
  RunProgress run;
  run.note(at("a", 1), 0);
  EXPECT_FALSE(run.best_of("a"));
  run.note(at("a", 2, 3e-3), 1);
  run.note(at("a", 7, 1e-3), 2);
  run.note(at("a", 9, 1e-3), 3);
  run.note(at("b", 1, 5e-3), 3);
  const BestSoFar best = run.best_of("a").value();
  EXPECT_DOUBLE_EQ(best.seconds, 1e-3);
  EXPECT_DOUBLE_EQ(best.first_seconds, 3e-3);
  EXPECT_EQ(best.found_at, 7U);
}

TEST(RunProgress, AnotherRunOverTheSameProblemsBeginsAnew) {
  RunProgress run;
  run.note(at("a", 0), 0);
  run.note(at("a", 100), 100);
  run.note(at("a", 0), 200);
  run.note(at("a", 50), 201);
  EXPECT_DOUBLE_EQ(run.seconds_left(201).value(), 3);
}

}  // namespace
}  // namespace autotune
