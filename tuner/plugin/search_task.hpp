// SPDX-License-Identifier: Apache-2.0
// A search by a plugin's strategy, in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/search/strategy.hpp"

struct autotune_strategy_v1;

namespace autotune {

/// What a plugin is told, as plain values: autotune_task_v1.
struct SearchTask {
  struct Parameter {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Parameter> parameters;
  std::uint64_t configurations = 0;
  std::vector<std::uint16_t> levels;
  std::vector<double> predicted;
  std::vector<Evaluation> known;
  std::uint64_t seed = 0;
  std::uint64_t budget = 0;
  std::uint32_t batch = 1;
};

SearchTask search_task(const Evaluator& evaluator, std::uint64_t seed);

/// Answers in the order asked, fewer when the budget is spent.
using Ask = std::function<std::vector<Evaluation>(std::span<const std::uint64_t>)>;

/// Runs the strategy to its end. What `ask` throws is thrown on once the plugin has returned, and
/// asked no more. Throws Error when the strategy throws or gives a reason.
void run_strategy(const autotune_strategy_v1& strategy, const SearchTask& task, const Ask& ask);

}  // namespace autotune
