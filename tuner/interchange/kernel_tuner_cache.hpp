// SPDX-License-Identifier: Apache-2.0
// Kernel Tuner's cache files, of 1.5.0 and earlier versions.
#pragma once

#include "tuner/interchange/recorded_results.hpp"
#include "tuner/json/checked_json.hpp"

namespace autotune {

/// Throws Error with the file and the key that is wrong.
RecordedResults read_kernel_tuner_cache(const CheckedJson& document);

/// A complete cache in the layout of 1.5.0, which Kernel Tuner's simulation mode reads. An outcome
/// that Kernel Tuner does not know becomes the nearest one that it knows.
std::string kernel_tuner_cache(const RecordedResults& results);

}  // namespace autotune
