// SPDX-License-Identifier: Apache-2.0
// Strategies by name, and those that need no model.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

class ExhaustiveSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

class RandomSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

/// Takes the parameters in random order, tries all other valid values of each, and keeps the best.
/// If a round over all parameters improves nothing, restarts at a random configuration. The first
/// start is the best known configuration; if there is none, a random one.
class CoordinateSearch : public SearchStrategy {
 public:
  void search(Evaluator& evaluator, std::uint64_t seed) override;
};

/// Skips configurations that are not in the space.
class ListedConfigurations final : public SearchStrategy {
 public:
  explicit ListedConfigurations(std::vector<Configuration> list) : list_(std::move(list)) {}
  void search(Evaluator& evaluator, std::uint64_t seed) override;

 private:
  std::vector<Configuration> list_;
};

// Evaluates a fixed list of configurations.

/// Evaluates `indices` in order, in batches, and prefetches the next batch. Returns false if the
/// budget ended before the last.
bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices);

}  // namespace autotune
