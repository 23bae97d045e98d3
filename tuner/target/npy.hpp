// SPDX-License-Identifier: Apache-2.0
// The header of NumPy's .npy files:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

namespace autotune {

/// An array in a file, in C order and little-endian.
struct NpyArray {
  std::string type;         // `f32`; may be no ElementType: `f128`
  std::int64_t bytes = 0;   // of all elements
  std::int64_t offset = 0;  // of the first element in the file
};

/// Reads the header. Throws Error that says what is wrong with it.
NpyArray read_npy_header(std::istream& file);

}  // namespace autotune
