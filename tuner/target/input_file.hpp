// SPDX-License-Identifier: Apache-2.0
// Files with the elements of an input: raw, or NumPy's .npy.
#pragma once

#include <filesystem>

#include "tuner/core/target.hpp"

namespace autotune {

/// Reads what is known of a file and hashes its content. A name that ends in `.npy` is one of
/// NumPy's, versions 1 to 3 of that format; any other has raw elements. Throws Error without the
/// path: the file cannot be read, has no elements, is too short, or is in Fortran order.
InputFile input_file(const std::filesystem::path& path);

}  // namespace autotune
