// SPDX-License-Identifier: Apache-2.0
// Files with the elements of an input: raw, or NumPy's .npy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>

#include "tuner/core/target.hpp"

namespace autotune {

/// Reads type, length and offset of a file and hashes its content. A file `*.npy` is NumPy's,
/// versions 1 to 3 of that format; any other has raw elements. Throws Error, without the path, if
/// the file cannot be read, has no elements, is too short, or is in Fortran order.
InputFile input_file(const std::filesystem::path& path);

// The header of NumPy's .npy files:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

/// An array in a file, in C order and little-endian.
struct NpyArray {
  std::string type;         // `f32`; may be no ElementType: `f128`
  std::int64_t bytes = 0;   // of all elements
  std::int64_t offset = 0;  // of the first element in the file
};

/// Reads the header. Throws Error that says what is wrong with it.
NpyArray read_npy_header(std::istream& file);

}  // namespace autotune
