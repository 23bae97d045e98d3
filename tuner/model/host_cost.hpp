// SPDX-License-Identifier: Apache-2.0
// A crude model of a kernel run on CPU cores: threads of a block are fibres of one core.
#pragma once

#include "tuner/model/cost.hpp"

namespace autotune {

/// Blocks are spread over `cores`. The model counts the cost of fibres and their barriers, and how
/// much of a thread's work the compiler can vectorize.
CostEstimate host_estimate(int cores, const CostInput& input);

}  // namespace autotune
