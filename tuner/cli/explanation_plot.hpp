// SPDX-License-Identifier: Apache-2.0
// An explanation as a picture, and the roofs over its configurations.
#pragma once

#include <string>

#include "tuner/session/explanation.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

bool is_gpu(const Explanation& explanation);
/// Bytes a second from L2.
double l2_roof(const Explanation& explanation);
/// FLOP/s that memory allows the best one.
double memory_roof(const Explanation& explanation);

/// On a GPU, where the FLOPs are known: FLOP/s over FLOPs a byte that passes L2, with the roofs of
/// the GPU, every timed configuration, and the best one marked. Williams, Waterman and Patterson,
/// "Roofline" (2009), at the L2 level. Elsewhere the times of all, fastest first.
Plot plot_of(const Explanation& explanation, const std::string& title);

}  // namespace autotune::cli
