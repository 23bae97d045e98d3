// SPDX-License-Identifier: Apache-2.0
// Evaluates a fixed list of configurations.
#pragma once

#include <span>

#include "tuner/search/strategy.hpp"

namespace autotune {

/// Evaluates `indices` in order, in batches, and prefetches the next batch. Returns false if the
/// budget ended before the last.
bool ask_in_order(Evaluator& evaluator, std::span<const std::size_t> indices);

}  // namespace autotune
