// SPDX-License-Identifier: Apache-2.0
// Runs a plugin's strategy in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/plugin/plugin_library.hpp"
#include "tuner/search/strategy.hpp"

namespace autotune {

/// The input of a plugin's search as plain values: autotune_task_v2.
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

/// Returns results in the order requested; fewer when the budget is spent.
using Ask = std::function<std::vector<Evaluation>(std::span<const std::uint64_t>)>;

/// Runs the strategy to its end. After an exception of `ask`, it is not called again; the exception
/// is rethrown once the plugin has returned. Throws Error if the strategy throws or gives a reason.
void run_strategy(const autotune_strategy_v2& strategy, const SearchTask& task, const Ask& ask);

}  // namespace autotune
