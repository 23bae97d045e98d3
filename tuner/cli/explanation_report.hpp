// SPDX-License-Identifier: Apache-2.0
// An explanation as people and programs read it.
#pragma once

#include <string>

#include "tuner/json/json.hpp"
#include "tuner/session/explanation.hpp"
#include "tuner/text/plot.hpp"

namespace autotune::cli {

std::string explanation_text(const Explanation& explanation);
Json explanation_json(const Explanation& explanation);

/// FLOP/s over FLOPs a byte that passes L2: the roofs of the GPU, every timed configuration, the
/// best one marked. Williams, Waterman and Patterson, "Roofline" (2009), at the L2 level.
Plot roofline(const Explanation& explanation);

}  // namespace autotune::cli
