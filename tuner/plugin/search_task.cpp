// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/search_task.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <limits>

#include "plugins/sdk/autotune_plugin.h"

namespace autotune {
namespace {

/// Points to the strings of `evaluation`.
autotune_evaluation_v2 told_of(const Evaluation& evaluation) {
  autotune_evaluation_v2 plain{};
  plain.index = evaluation.index;
  plain.outcome = !evaluation.seconds                 ? AUTOTUNE_PLUGIN_FAILED
                  : evaluation.outcome == Outcome::ok ? AUTOTUNE_PLUGIN_OK
                                                      : AUTOTUNE_PLUGIN_SLOW;
  plain.seconds = evaluation.seconds.value_or(std::numeric_limits<double>::infinity());
  plain.registers = evaluation.resources.registers;
  plain.shared_bytes = evaluation.resources.shared_bytes;
  plain.local_bytes = evaluation.resources.local_bytes;
  plain.occupancy = evaluation.resources.occupancy;
  plain.compile_seconds = evaluation.compile_seconds;
  plain.kind = name_of(evaluation.outcome).data();  // a literal
  plain.reason = evaluation.reason.c_str();
  return plain;
}

/// So many fit a message between processes, with their answers.
constexpr std::size_t kMostAtOnce = 10'000;

/// Implements evaluate() for the plugin. No exception passes through the plugin.
struct Host {
  const Ask& ask;
  std::exception_ptr thrown = {};
  std::deque<std::vector<Evaluation>> answered = {};  // their strings outlive the call

  static std::uint64_t evaluate(void* host, const std::uint64_t* indices, std::uint64_t count,
                                autotune_evaluation_v2* answers) {
    return static_cast<Host*>(host)->answer({indices, count}, answers);
  }

  std::uint64_t answer(std::span<const std::uint64_t> indices,
                       autotune_evaluation_v2* answers) noexcept try {
    if (thrown) return 0;
    std::size_t count = 0;
    do {
      const auto piece = indices.subspan(count, std::min(indices.size() - count, kMostAtOnce));
      answered.push_back(ask(piece));
      std::ranges::transform(answered.back(), answers + count, told_of);
      count += answered.back().size();
      if (answered.back().size() < piece.size()) break;
    } while (count < indices.size());
    return count;
  } catch (...) {
    thrown = std::current_exception();
    return 0;
  }
};

/// A task's parameters as a plugin sees them.
struct PlainParameters {
  explicit PlainParameters(const std::vector<SearchTask::Parameter>& parameters) {
    for (const SearchTask::Parameter& parameter : parameters) {
      auto& texts = values.emplace_back();
      for (const std::string& value : parameter.values) texts.push_back(value.c_str());
      plain.push_back(
          {parameter.name.c_str(), static_cast<std::uint32_t>(texts.size()), texts.data()});
    }
  }
  std::deque<std::vector<const char*>> values;
  std::vector<autotune_parameter_v1> plain;
};

}  // namespace

SearchTask search_task(const Evaluator& evaluator, std::uint64_t seed) {
  const ParameterSpace& space = evaluator.space();
  SearchTask task;
  for (const Parameter& parameter : space.parameters()) {
    SearchTask::Parameter& told = task.parameters.emplace_back(SearchTask::Parameter{});
    told.name = parameter.name;
    for (const Value& value : parameter.values) told.values.push_back(value.text());
  }
  task.configurations = space.size();
  task.levels.reserve(space.size() * space.parameters().size());
  for (std::size_t index = 0; index < space.size(); ++index) {
    const Levels levels = space.levels(index);
    task.levels.insert(task.levels.end(), levels.begin(), levels.end());
  }
  task.predicted.assign(evaluator.predicted().begin(), evaluator.predicted().end());
  task.known.assign(evaluator.known().begin(), evaluator.known().end());
  task.seed = seed;
  task.budget = evaluator.remaining();
  task.batch = static_cast<std::uint32_t>(std::max(1, evaluator.batch()));
  return task;
}

void run_strategy(const autotune_strategy_v2& strategy, const SearchTask& task, const Ask& ask) {
  const PlainParameters parameters(task.parameters);
  std::vector<autotune_evaluation_v2> known;
  for (const Evaluation& each : task.known) known.push_back(told_of(each));
  Host host{ask};
  autotune_task_v2 told{};
  told.parameters = static_cast<std::uint32_t>(parameters.plain.size());
  told.parameter = parameters.plain.data();
  told.configurations = task.configurations;
  told.levels = task.levels.data();
  told.predicted = task.predicted.empty() ? nullptr : task.predicted.data();
  told.known_count = known.size();
  told.known = known.data();
  told.seed = task.seed;
  told.budget = task.budget;
  told.batch = task.batch;
  told.host = &host;
  told.evaluate = &Host::evaluate;
  call_plugin("search()", [&] { return strategy.search(&told); });
  if (host.thrown) std::rethrow_exception(host.thrown);
}

}  // namespace autotune
