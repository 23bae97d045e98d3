// SPDX-License-Identifier: Apache-2.0
// T4: the auto-tuning community's format of tuning results.
#pragma once

#include "tuner/interchange/recorded_results.hpp"
#include "tuner/json/checked_json.hpp"

namespace autotune {

/// Throws Error with the file and the key that is wrong.
RecordedResults read_t4_results(const CheckedJson& document);

/// A document of schema version 1.0.0.
std::string t4_results(const RecordedResults& results);

}  // namespace autotune
