// SPDX-License-Identifier: Apache-2.0
// An explanation as a plot, with the roofs of the GPU.
#pragma once

#include <string>

#include "tuner/session/explanation.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

bool is_gpu(const Explanation& explanation);
/// Bytes per second from L2.
double l2_roof(const Explanation& explanation);
/// FLOP/s of the best configuration if memory bounds it.
double memory_roof(const Explanation& explanation);

/// On a GPU with known FLOPs, a roofline at the L2 level: FLOP/s over FLOPs per byte through L2,
/// with every timed configuration and the best one marked (Williams, Waterman and Patterson,
/// "Roofline", 2009). Else the times of all, fastest first.
Plot plot_of(const Explanation& explanation, const std::string& title);

}  // namespace autotune::cli
