// SPDX-License-Identifier: Apache-2.0
// Not a search: times a list of configurations.
#pragma once

#include <utility>
#include <vector>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Skips configurations that are not in the space.
class ListedConfigurations final : public SearchStrategy {
 public:
  explicit ListedConfigurations(std::vector<Configuration> list) : list_(std::move(list)) {}
  void search(Evaluator& evaluator, std::uint64_t seed) override;

 private:
  std::vector<Configuration> list_;
};

}  // namespace autotune
