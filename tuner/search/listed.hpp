// SPDX-License-Identifier: Apache-2.0
// Not a search: times a list of configurations.
#pragma once

#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Those of the list that the space has.
class ListedConfigurations final : public SearchStrategy {
 public:
  explicit ListedConfigurations(std::vector<Configuration> list) : list_(std::move(list)) {}
  void search(Evaluator& evaluator, std::uint64_t seed) override;

 private:
  std::vector<Configuration> list_;
};

}  // namespace autotune
