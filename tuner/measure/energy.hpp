// SPDX-License-Identifier: Apache-2.0
// The energy of a call, from a counter that steps only every few tens of milliseconds.
#pragma once

#include <functional>

#include "tuner/core/device.hpp"

namespace autotune {

/// Joules that a device has used since some moment. It steps at intervals.
using EnergyCounter = std::function<double()>;
/// Seconds since some moment.
using Seconds = std::function<double()>;
/// Runs a batch and returns its number of calls.
using RunBatch = std::function<int()>;

/// Runs batches from a step of the counter to one at least `least_seconds` later: the difference is
/// the energy of the calls in between. Warm-up batches come first. Throws Error if the counter does
/// not advance.
Energy sustained_energy(const EnergyCounter& counter, const RunBatch& run, double least_seconds,
                        const Seconds& now);

}  // namespace autotune
