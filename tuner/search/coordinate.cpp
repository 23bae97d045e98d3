// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/coordinate.hpp"

#include <limits>
#include <optional>

#include "tuner/search/neighbours.hpp"
#include "tuner/search/random_source.hpp"

namespace autotune {
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

}  // namespace autotune
