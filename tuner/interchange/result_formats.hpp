// SPDX-License-Identifier: Apache-2.0
// Files of other tuners' results: Kernel Tuner's caches, of 1.5.0 and earlier versions, and T4.
#pragma once

#include "tuner/interchange/recorded_results.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// Throws Error with the file and the key that is wrong.
RecordedResults read_kernel_tuner_cache(const CheckedJson& document);

/// A complete cache in the layout of 1.5.0, which Kernel Tuner's simulation mode reads. An outcome
/// that Kernel Tuner does not know becomes the nearest one that it knows.
std::string kernel_tuner_cache(const RecordedResults& results);

// T4: the auto-tuning community's format of tuning results.

/// Throws Error with the file and the key that is wrong.
RecordedResults read_t4_results(const CheckedJson& document);

/// A document of schema version 1.0.0.
std::string t4_results(const RecordedResults& results);

}  // namespace autotune
