// SPDX-License-Identifier: Apache-2.0
// Objectives other than time: the energy of the finalists, and the choice by it.
#pragma once

#include <optional>
#include <vector>

#include "tuner/core/deadline.hpp"
#include "tuner/measure/playoff.hpp"
#include "tuner/session/decision.hpp"
#include "tuner/session/finalists.hpp"

namespace autotune {

/// One for each finalist, in their order; none if the objective is time, or if it was not measured.
using Energies = std::vector<std::optional<Energy>>;

/// Measures each finalist that is left, in a sustained run of its own. After the deadline, only two
/// are measured. One that fails is refuted, and there are no energies: nullopt.
std::optional<Energies> measured_energies(const Policy& policy, Finalists& finalists,
                                          const PlayoffResult& result, const Deadline& deadline);

/// Makes the finalist with the least energy, or least product of energy and time, the winner, and
/// notes which others tie. The stored best (without one: the default) stays unless it has more by
/// over the policy's replace_margin, and by more than the resolution of the two can hide. Changes
/// nothing if the objective is time.
void decide_by_energy(const Policy& policy, const Finalists& finalists, const Energies& energies,
                      PlayoffResult& result);

/// Those of which no other is both faster and uses less energy, fastest first.
std::vector<Tuned> pareto_front(std::vector<Tuned> all);

}  // namespace autotune
