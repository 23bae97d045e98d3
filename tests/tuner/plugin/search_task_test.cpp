// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/search_task.hpp"

#include <cmath>

#include "plugins/sdk/autotune_plugin.h"
#include "tests/support/matchers.hpp"
#include "tests/tuner/search/simulated.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using simulated::Bench;
using simulated::grid;

std::optional<double> by_first_level(const Levels& levels) {
  return levels[0] == 2 ? std::nullopt : std::optional(1.0 + levels[0]);
}

/// What a strategy has seen; a C function has nowhere else to leave it.
std::vector<autotune_evaluation_v2> seen;
std::vector<std::string> seen_reasons;

const char* look_at_everything(const autotune_task_v2* task) {
  if (task->parameters != 2 || task->configurations != 6) return "another space";
  if (std::string(task->parameter[1].values[1]) != "1") return "other values";
  const std::uint16_t* last = task->levels + 5 * 2;
  if (last[0] != 2 || last[1] != 1) return "other levels";
  const std::uint64_t indices[] = {0, 2, 4};
  seen.resize(3);
  seen.resize(task->evaluate(task->host, indices, 3, seen.data()));
  return nullptr;
}

const char* throw_something(const autotune_task_v2*) { throw std::runtime_error("at a loss"); }
const char* give_a_reason(const autotune_task_v2*) { return "no time today"; }

SearchTask task_of(const Bench& bench) { return search_task(bench, 1); }

Ask ask_of(Bench& bench) {
  return [&bench](std::span<const std::uint64_t> indices) {
    return bench.evaluate(std::vector<std::size_t>(indices.begin(), indices.end()));
  };
}

TEST(SearchTask, AStrategySeesTheSpaceAndGetsItsAnswers) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const autotune_strategy_v2 strategy{"look", "", look_at_everything};
  run_strategy(strategy, task_of(bench), ask_of(bench));
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].index, 0u);
  EXPECT_DOUBLE_EQ(seen[0].seconds, 1);
  EXPECT_EQ(seen[1].outcome, AUTOTUNE_PLUGIN_OK);
  EXPECT_DOUBLE_EQ(seen[1].seconds, 2);
  EXPECT_EQ(seen[2].outcome, AUTOTUNE_PLUGIN_FAILED);
  EXPECT_TRUE(std::isinf(seen[2].seconds));
}

TEST(SearchTask, WhatAStrategyThrowsOrSaysIsAnError) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const auto message = [&](const char* (*search)(const autotune_task_v2*)) -> std::string {
    const autotune_strategy_v2 strategy{"bad", "", search};
    try {
      run_strategy(strategy, task_of(bench), ask_of(bench));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THAT(message(throw_something), HasSubstr("it threw an exception: at a loss"));
  EXPECT_THAT(message(give_a_reason), HasSubstr("no time today"));
}

TEST(SearchTask, WhatTheEvaluatorThrowsComesOutBehindThePlugin) {
  const ParameterSpace space = grid({3, 2});
  Bench bench(space, by_first_level, 100);
  const Ask broken = [](std::span<const std::uint64_t>) -> std::vector<Evaluation> {
    throw std::logic_error("the database is gone");
  };
  const autotune_strategy_v2 strategy{"look", "", look_at_everything};
  EXPECT_THROW(run_strategy(strategy, task_of(bench), broken), std::logic_error);
}

std::vector<autotune_evaluation_v2> told;

const char* ask_one_by_one(const autotune_task_v2* task) {
  told.assign(task->known, task->known + task->known_count);
  for (std::uint64_t i = 1; i < 3; ++i) {
    autotune_evaluation_v2 answer;
    if (task->evaluate(task->host, &i, 1, &answer) == 1) told.push_back(answer);
  }
  for (const autotune_evaluation_v2& one : told) seen_reasons.emplace_back(one.reason);
  return nullptr;
}

TEST(SearchTask, AStrategyGetsReasonsAndResources) {
  const ParameterSpace space = grid({3, 2});
  const Bench bench(space, by_first_level, 100);
  SearchTask task = task_of(bench);
  task.known = {{0, Outcome::ok, 1e-3, "", {64, 4096, 16, 0.5}, 0.25}};
  const std::vector<Evaluation> answers = {
      {1, Outcome::pruned, 2e-3, "outrun"},
      {2, Outcome::compile_error, {}, "uses too much shared data"}};
  const Ask ask = [&](std::span<const std::uint64_t> indices) {
    return std::vector<Evaluation>{answers[indices[0] - 1]};
  };
  const autotune_strategy_v2 strategy{"ask", "", ask_one_by_one};
  seen_reasons.clear();
  run_strategy(strategy, task, ask);
  EXPECT_THAT(seen_reasons, ElementsAre("", "outrun", "uses too much shared data"));
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told[0].registers, 64);
  EXPECT_EQ(told[0].shared_bytes, 4096);
  EXPECT_EQ(told[0].local_bytes, 16);
  EXPECT_EQ(told[0].occupancy, 0.5);
  EXPECT_EQ(told[0].compile_seconds, 0.25);
  EXPECT_STREQ(told[0].kind, "ok");
  EXPECT_STREQ(told[1].kind, "pruned");
  EXPECT_EQ(told[1].outcome, AUTOTUNE_PLUGIN_SLOW);
  EXPECT_STREQ(told[2].kind, "compile_error");
  EXPECT_EQ(told[2].registers, -1);
  EXPECT_TRUE(std::isinf(told[2].seconds));
}

}  // namespace
}  // namespace autotune
