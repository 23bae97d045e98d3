// SPDX-License-Identifier: Apache-2.0
// Files with the elements of an input: raw, or NumPy's .npy.
#pragma once

#include <filesystem>

#include "tuner/core/target.hpp"

namespace autotune {

/// Reads type, length and offset of a file and hashes its content. A file `*.npy` is NumPy's,
/// versions 1 to 3 of that format; any other has raw elements. Throws Error, without the path, if
/// the file cannot be read, has no elements, is too short, or is in Fortran order.
InputFile input_file(const std::filesystem::path& path);

}  // namespace autotune
