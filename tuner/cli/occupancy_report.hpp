// SPDX-License-Identifier: Apache-2.0
// Occupancy as a table, as JSON, and as the three usual curves.
#pragma once

#include <string>

#include "tuner/json/json.hpp"
#include "tuner/model/occupancy.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

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

}  // namespace autotune::cli
