// SPDX-License-Identifier: Apache-2.0
// The table of built-in strategies; each has a file of its own.
#include <utility>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/search/coordinate.hpp"
#include "tuner/search/exhaustive.hpp"
#include "tuner/search/guided.hpp"
#include "tuner/search/random.hpp"
#include "tuner/search/strategy.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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

}  // namespace autotune
