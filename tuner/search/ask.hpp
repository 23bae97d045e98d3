// SPDX-License-Identifier: Apache-2.0
// Asking an evaluator for a list that is known beforehand.
#pragma once

#include <span>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Evaluates `indices` in order, a batch at a time, and has the batch after it prepared meanwhile.
/// False when the budget ended before the last.
bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices);

}  // namespace autotune
