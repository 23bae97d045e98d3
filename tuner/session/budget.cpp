// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/budget.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "tuner/core/error.hpp"
#include "tuner/search/automatic_end.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

std::size_t Budget::evaluations(std::size_t space_size) const {
  double allowed = static_cast<double>(space_size);
  if (kind == Kind::evaluations) allowed = std::min(allowed, amount);
  if (kind == Kind::automatic) {
    allowed = std::min(allowed, static_cast<double>(AutomaticEnd::kMost));
  }
  if (kind == Kind::percent) allowed = std::ceil(allowed * amount / 100);
  return static_cast<std::size_t>(std::max(allowed, 1.0));
}

Budget parse_budget(std::string_view text) {
  if (text == "auto") return {Budget::Kind::automatic, 0};
  const std::string word(text);
  char* end = nullptr;
  const double amount = std::strtod(word.c_str(), &end);
  const std::string unit(end);
  const bool number = end != word.c_str() && std::isfinite(amount) && amount > 0;
  if (number && unit == "s") return {Budget::Kind::seconds, amount};
  if (number && unit == "m") return {Budget::Kind::seconds, amount * 60};
  if (number && unit == "%" && amount <= 100) return {Budget::Kind::percent, amount};
  if (number && unit.empty() && amount == std::floor(amount) && amount <= 1e9) {
    return {Budget::Kind::evaluations, amount};
  }
  throw UsageError(
      format("\"{}\" is not a budget: give auto, evaluations for each problem (200), a share of "
             "the space (10%) "
             "or the time of the whole run (60s, 2m)",
             text));
}

}  // namespace autotune
