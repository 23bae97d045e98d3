// SPDX-License-Identifier: Apache-2.0
// Describes the initial content of a buffer, and checks that its type can hold it.
#pragma once

#include <string>

#include "tuner/core/launch.hpp"

namespace autotune {

/// How many values a fill has: `uniform = [0, 1]` has two.
std::size_t values_of(Fill fill);

/// Why the buffer's type cannot hold its fill; empty if it can. Given numbers are doubles, so those
/// of integer types must be integers within 2^53.
std::string fill_complaint(const BufferSpec& buffer);

/// `uniform 0 to 99`, `from points.npy`; empty for random numbers and for outputs.
std::string fill_text(const BufferSpec& buffer);

/// Whether every element of the integer input set is an integer, so that sums of them are exact.
bool fills_with_integers(const BufferSpec& buffer);

}  // namespace autotune
