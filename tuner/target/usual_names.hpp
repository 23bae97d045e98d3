// SPDX-License-Identifier: Apache-2.0
// What the usual names of types, macros and arguments of kernels mean.
#pragma once

#include <string>

namespace autotune {

/// `u32` for `unsigned int`, `f32x4` for `float4`; empty for other types.
std::string type_name(const std::string& type);
/// Of a type_name().
bool is_integer_type(const std::string& type);
/// Whether a constant of this name says how a kernel works, not what it computes.
bool is_of_the_work(const std::string& name);
/// Whether it is on or off.
bool is_flag(const std::string& name);
/// Whether it is a number of threads.
bool is_of_blocks(const std::string& name);
/// In lower case, without the words that say that a kernel is there to compare with.
std::string without_plain(const std::string& name);
/// Whether it has such a word.
bool is_plain(const std::string& name);
/// Of integer arguments: whether it is a size, and whether it is that of a sparse matrix's or a
/// graph's entries.
bool names_a_size(const std::string& name);
bool names_entries(const std::string& name);

/// The manifest's function that a function's name means: `ceil_div` for `iDivUp` and `CEIL_DIV`;
/// empty for other names.
std::string manifest_function(const std::string& name);

}  // namespace autotune
