// SPDX-License-Identifier: Apache-2.0
// Private to this folder: a measurement in messages.
#pragma once

#include "tuner/core/measurement.hpp"
#include "tuner/worker/wire_codec.hpp"

namespace autotune {

WIRE_MEMBERS(Measurement, median, low, high, samples, outliers, throttled, correction)

}  // namespace autotune
