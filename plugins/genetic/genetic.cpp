// SPDX-License-Identifier: Apache-2.0
// A genetic algorithm: tournament selection of parents, uniform crossover, mutation, and (mu +
// lambda) selection of survivors. Every child is a configuration that was not tried before.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "plugins/sdk/autotune_plugin.h"

namespace {

constexpr std::size_t kPopulation = 16;
constexpr double kMutation = 0.15;  // of a child's levels
constexpr int kTournament = 3;
constexpr int kMostTries = 100;  // for a child that is new

struct Member {
  std::uint64_t index = 0;
  double seconds = std::numeric_limits<double>::infinity();
};

class Genetic {
 public:
  explicit Genetic(const autotune_task_v2& task)
      : task_(task), random_(task.seed), known_(task.configurations) {
    for (const auto& evaluation : std::span(task.known, task.known_count)) take(evaluation);
  }

  void run() {
    if (!ask(first_generation())) return;
    while (unknown() > 0) {
      std::vector<std::uint64_t> children;
      const std::size_t count = std::min<std::uint64_t>(kPopulation, unknown());
      while (children.size() < count) children.push_back(mark(child()));
      if (!ask(children)) return;
    }
  }

 private:
  std::span<const std::uint16_t> row(std::uint64_t index) const {
    return {task_.levels + index * task_.parameters, task_.parameters};
  }
  std::uint64_t unknown() const { return task_.configurations - marked_; }

  // SplitMix64.
  std::uint64_t next() {
    std::uint64_t z = (random_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::uint64_t below(std::uint64_t count) { return next() % count; }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  std::uint64_t mark(std::uint64_t index) {
    if (!known_[index]) ++marked_;
    known_[index] = true;
    return index;
  }

  void take(const autotune_evaluation_v2& evaluation) {
    mark(evaluation.index);
    if (evaluation.outcome != AUTOTUNE_PLUGIN_FAILED) {
      population_.push_back({evaluation.index, evaluation.seconds});
    }
  }

  /// With a cost model, half of them are those with the least predicted times.
  std::vector<std::uint64_t> first_generation() {
    std::vector<std::uint64_t> chosen;
    const std::size_t count = std::min<std::uint64_t>(kPopulation, unknown());
    if (task_.predicted != nullptr) {
      std::vector<std::uint64_t> order(task_.configurations);
      for (std::uint64_t i = 0; i < order.size(); ++i) order[i] = i;
      const auto half = order.begin() + static_cast<std::ptrdiff_t>(count / 2);
      std::partial_sort(order.begin(), half, order.end(), [&](std::uint64_t a, std::uint64_t b) {
        return task_.predicted[a] < task_.predicted[b];
      });
      for (auto one = order.begin(); one != half; ++one) {
        if (!known_[*one]) chosen.push_back(mark(*one));
      }
    }
    while (chosen.size() < count) chosen.push_back(mark(stranger()));
    return chosen;
  }

  std::uint64_t stranger() {
    std::uint64_t index = below(task_.configurations);
    while (known_[index]) index = (index + 1) % task_.configurations;
    return index;
  }

  const Member& parent() {
    const Member* best = &population_[below(population_.size())];
    for (int i = 1; i < kTournament; ++i) {
      const Member& other = population_[below(population_.size())];
      if (other.seconds < best->seconds) best = &other;
    }
    return *best;
  }

  std::uint64_t child() {
    for (int i = 0; i < kMostTries && !population_.empty(); ++i) {
      const auto mother = row(parent().index), father = row(parent().index);
      std::vector<std::uint16_t> levels(task_.parameters);
      for (std::uint32_t p = 0; p < task_.parameters; ++p) {
        levels[p] = uniform() < 0.5 ? mother[p] : father[p];
        if (uniform() < kMutation) {
          levels[p] = static_cast<std::uint16_t>(below(task_.parameter[p].count));
        }
      }
      const std::uint64_t index = nearest(levels);
      if (!known_[index]) return index;
    }
    return stranger();
  }

  /// The configuration with these levels or the next one, which shares most leading levels with
  /// them.
  std::uint64_t nearest(const std::vector<std::uint16_t>& levels) const {
    std::uint64_t low = 0, high = task_.configurations - 1;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      const auto at = row(middle);
      if (std::lexicographical_compare(at.begin(), at.end(), levels.begin(), levels.end())) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  /// False once the budget is spent.
  bool ask(const std::vector<std::uint64_t>& indices) {
    std::vector<autotune_evaluation_v2> answers(indices.size());
    const std::uint64_t got =
        task_.evaluate(task_.host, indices.data(), indices.size(), answers.data());
    for (std::uint64_t i = 0; i < got; ++i) take(answers[i]);
    std::sort(population_.begin(), population_.end(),
              [](const Member& a, const Member& b) { return a.seconds < b.seconds; });
    population_.resize(std::min(population_.size(), kPopulation));
    return got == indices.size();
  }

  const autotune_task_v2& task_;
  std::uint64_t random_;
  std::vector<bool> known_;   // tried, or about to be
  std::uint64_t marked_ = 0;  // how many
  std::vector<Member> population_;
};

const char* search(const autotune_task_v2* task) {
  static std::string reason;
  try {
    if (task->configurations > 0 && task->parameters > 0) Genetic(*task).run();
    return nullptr;
  } catch (const std::exception& error) {
    reason = error.what();
    return reason.c_str();
  }
}

constexpr autotune_strategy_v2 kStrategies[] = {
    {"genetic", "tournaments, uniform crossover and mutation in a population of 16", search}};
constexpr autotune_search_v2 kSearch{1, kStrategies};

const void* facet(const char* id) {
  return std::strcmp(id, AUTOTUNE_FACET_SEARCH) == 0 ? &kSearch : nullptr;
}

constexpr autotune_plugin_v1 kPlugin{AUTOTUNE_PLUGIN_ABI, "genetic", "1.0",
                                     "A genetic algorithm as a strategy", facet};

}  // namespace

AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &kPlugin; }
