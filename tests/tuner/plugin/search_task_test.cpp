// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_library.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "plugins/sdk/autotune_plugin.h"

namespace autotune {
namespace {

constexpr std::uint64_t kMany = 25'000;

/// Requests all at once; answers are in the order requested.
const char* asks_for_all(const autotune_task_v2* task) {
  std::vector<std::uint64_t> indices(task->configurations);
  std::iota(indices.begin(), indices.end(), 0);
  std::vector<autotune_evaluation_v2> answers(indices.size());
  const auto count = task->evaluate(task->host, indices.data(), indices.size(), answers.data());
  EXPECT_EQ(count, task->budget);
  for (std::uint64_t i = 0; i < count; ++i) EXPECT_EQ(answers[i].index, i);
  return nullptr;
}

TEST(RunStrategy, PassesALargeRequestOnInPieces) {
  SearchTask task;
  task.configurations = kMany;
  for (const std::uint64_t budget : {kMany, std::uint64_t{12'345}, std::uint64_t{7}}) {
    task.budget = budget;
    std::uint64_t left = budget;
    const Ask ask = [&](std::span<const std::uint64_t> indices) {
      EXPECT_LE(indices.size(), 10'000u);
      std::vector<Evaluation> evaluations;
      for (const std::uint64_t index : indices.first(std::min(left, indices.size()))) {
        evaluations.emplace_back().index = index;
      }
      left -= evaluations.size();
      return evaluations;
    };
    run_strategy({"asks_for_all", "", asks_for_all}, task, ask);
    EXPECT_EQ(left, 0u);
  }
}

}  // namespace
}  // namespace autotune
