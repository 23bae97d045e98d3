// SPDX-License-Identifier: Apache-2.0
// An explanation, occupancy, and the result of `check`, each as text and as JSON.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/target/check.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

// Occupancy as a table, as JSON, and as the three usual curves.

/// A question: the occupancy of one kernel on one GPU.
struct OccupancyQuestion {
  std::string kernel;  // name, or empty
  std::string block;   // `16 x 16`
  GpuSpec gpu;
  KernelShape shape;
};

std::string occupancy_table(const OccupancyQuestion& question, const Occupancy& answer);

/// `active_blocks`, `active_warps`, `occupancy` (0..1), `limits` (blocks by each resource),
/// `limiters` (names), and the question.
Json occupancy_json(const OccupancyQuestion& question, const Occupancy& answer);

/// `shared memory`, `warps and registers`.
std::string limiter_text(const Occupancy& answer);

/// Occupancy at each value of one resource.
Json sweep_json(const OccupancyQuestion& question, Swept what, const SharedOfBlock& shared);

/// Active warps over one resource, with the question's point marked.
Plot sweep_plot(const OccupancyQuestion& question, Swept what, const SharedOfBlock& shared);

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

// The result of `autotune check`, as text and as JSON.

/// The traffic of each configuration's declared accesses; may be empty.
using CheckedTraffic = std::vector<std::vector<KernelTraffic>>;

void print_check(std::ostream& out, const Target& target, const Problem& problem,
                 const DeviceInfo& device, const TargetCheck& check, const CheckedTraffic& traffic);

}  // namespace autotune::cli
