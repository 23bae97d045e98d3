// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/covering.hpp"

#include <algorithm>

namespace autotune {
namespace {

constexpr std::size_t kMostConsidered = 100000;

/// The values seen so far: one row per parameter.
class Coverage {
 public:
  explicit Coverage(const ParameterSpace& space) : space_(space) {
    for (const Parameter& parameter : space.parameters()) {
      seen_.emplace_back(parameter.values.size());
    }
  }

  std::size_t missing_in(std::size_t index) const {
    const Levels levels = space_.levels(index);
    std::size_t missing = 0;
    for (std::size_t i = 0; i < levels.size(); ++i) missing += !seen_[i][levels[i]];
    return missing;
  }

  void add(std::size_t index) {
    const Levels levels = space_.levels(index);
    for (std::size_t i = 0; i < levels.size(); ++i) seen_[i][levels[i]] = true;
  }

 private:
  const ParameterSpace& space_;
  std::vector<std::vector<bool>> seen_;
};

}  // namespace

std::vector<std::size_t> covering_configurations(const ParameterSpace& space, std::size_t first,
                                                 std::size_t most) {
  std::vector<std::size_t> chosen{first};
  Coverage coverage(space);
  coverage.add(first);
  const std::size_t step = std::max<std::size_t>(1, space.size() / kMostConsidered);
  while (chosen.size() < most) {
    std::size_t best = 0, gain = 0;
    for (std::size_t i = 0; i < space.size(); i += step) {
      const std::size_t missing = coverage.missing_in(i);
      if (missing <= gain) continue;
      best = i;
      gain = missing;
    }
    if (gain == 0) break;
    coverage.add(best);
    chosen.push_back(best);
  }
  return chosen;
}

}  // namespace autotune
