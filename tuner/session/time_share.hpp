// SPDX-License-Identifier: Apache-2.0
// A problem's share of a budget of time.
#pragma once

#include <cstddef>

#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// Seconds for the problem `number`, which is begun now, if `unfinished` problems, itself included,
/// share `devices` devices for the rest of the run's time. Problems with weights are begun in their
/// order. nullopt: the budget is not one of time.
std::optional<double> time_share(const TuningRequest& request, std::size_t number,
                                 std::size_t unfinished, std::size_t devices);

}  // namespace autotune
