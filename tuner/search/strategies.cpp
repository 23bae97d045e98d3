// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/strategy.hpp"

#include <limits>
#include <numeric>

#include "tuner/core/error.hpp"
#include "tuner/search/guided.hpp"
#include "tuner/search/points.hpp"
#include "tuner/search/random_source.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

// The table of built-in strategies.

void ExhaustiveSearch::search(Evaluator& evaluator, std::uint64_t) {
  std::vector<std::size_t> order(evaluator.space().size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  ask_in_order(evaluator, order);
}

void RandomSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  RandomSource random(seed);
  ask_in_order(evaluator, random_order(evaluator.space().size(), random));
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Point {
  std::size_t index = 0;
  double seconds = kInfinity;
};

Point point_of(const Evaluation& answer) {
  return {answer.index,
          answer.outcome == Outcome::ok ? answer.seconds.value_or(kInfinity) : kInfinity};
}

/// The best of `indices` and `best`; nullopt when the budget ended.
std::optional<Point> best_of(Evaluator& evaluator, std::span<const std::size_t> indices,
                             Point best) {
  const std::vector<Evaluation> answers = evaluator.evaluate(indices);
  for (const Evaluation& answer : answers) {
    const Point point = point_of(answer);
    if (point.seconds < best.seconds) best = point;
  }
  if (answers.size() < indices.size()) return std::nullopt;
  return best;
}

/// Descends from `start` to a local optimum; false when the budget ended.
bool descend(Evaluator& evaluator, const Neighbours& neighbours, Point start,
             RandomSource& random) {
  std::optional<Point> best = start;
  std::size_t unchanged = 0;  // parameters since the last improvement
  const std::size_t parameters = evaluator.space().parameters().size();
  while (unchanged < parameters) {
    for (const std::size_t parameter : random_order(parameters, random)) {
      const std::size_t before = best->index;
      best = best_of(evaluator, neighbours.along(best->index, parameter), *best);
      if (!best) return false;
      unchanged = best->index == before ? unchanged + 1 : 0;
      if (unchanged >= parameters) break;
    }
  }
  return true;
}

}  // namespace

void CoordinateSearch::search(Evaluator& evaluator, std::uint64_t seed) {
  RandomSource random(seed);
  const Neighbours neighbours(evaluator.space());
  Point known;
  for (const Evaluation& answer : evaluator.known()) {
    if (point_of(answer).seconds < known.seconds) known = point_of(answer);
  }
  if (known.seconds < kInfinity && !descend(evaluator, neighbours, known, random)) return;
  // Each configuration is a start at most once, so the search ends after it has tried all.
  for (const std::size_t start : random_order(evaluator.space().size(), random)) {
    const std::optional<Point> point = best_of(evaluator, {&start, 1}, {start, kInfinity});
    if (!point) return;
    if (point->seconds < kInfinity && !descend(evaluator, neighbours, *point, random)) return;
  }
}

void ListedConfigurations::search(Evaluator& evaluator, std::uint64_t) {
  std::vector<std::size_t> indices;
  for (const Configuration& one : list_) {
    if (const auto index = evaluator.space().find(one)) indices.push_back(*index);
  }
  ask_in_order(evaluator, indices);
}

namespace {

template <class Strategy>
std::unique_ptr<SearchStrategy> make() {
  return std::make_unique<Strategy>();
}

std::vector<StrategyRow>& table() {
  static std::vector<StrategyRow> rows = {
      {"guided", "cost model first, then Gaussian processes fitted to the measurements",
       make<GuidedSearch>},
      {"coordinate", "one parameter at a time from many starting points", make<CoordinateSearch>},
      {"random", "uniformly, each configuration once", make<RandomSearch>},
      {"exhaustive", "every configuration, in order", make<ExhaustiveSearch>},
  };
  return rows;
}

}  // namespace

std::span<const StrategyRow> strategies() { return table(); }

void add_strategy(StrategyRow row) {
  for (const StrategyRow& other : table()) {
    if (other.name != row.name) continue;
    throw UsageError(format("there is already a strategy {}: rename one of them", row.name));
  }
  table().push_back(std::move(row));
}

std::unique_ptr<SearchStrategy> make_strategy(std::string_view name) {
  std::vector<std::string> names;
  for (const StrategyRow& row : strategies()) {
    if (row.name == name) return row.make();
    names.push_back(row.name);
  }
  throw UsageError(format("there is no strategy {}: {}", name, suggestion(name, names)));
}

bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices) {
  const auto batch = static_cast<std::size_t>(std::max(1, evaluator.batch()));
  while (!indices.empty()) {
    const auto now = indices.first(std::min(batch, indices.size()));
    indices = indices.subspan(now.size());
    evaluator.prefetch(indices.first(std::min(batch, indices.size())));
    if (evaluator.evaluate(now).size() < now.size()) return false;
  }
  return true;
}

}  // namespace autotune
