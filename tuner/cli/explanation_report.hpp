// SPDX-License-Identifier: Apache-2.0
// An explanation as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

/// A line for each access, after `indent`.
std::string traffic_text(const std::vector<KernelTraffic>& traffic, std::string_view indent);
Json traffic_json(const std::vector<KernelTraffic>& traffic);

/// For explain: one fact a line, advice below it.
std::string health_text(const SearchHealth& health);

/// For tune: a line for each sign that the search is failing; empty if there is none.
std::string lost_text(const SearchHealth& health);

Json json_of(const SearchHealth& health);

std::string explanation_text(const Explanation& explanation);
Json explanation_json(const Explanation& explanation);

// An explanation as a plot, with the roofs of the GPU.

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
