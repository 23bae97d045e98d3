// SPDX-License-Identifier: Apache-2.0
// The canonical text of a problem, `M=512 N=512 K=512 dtype=f32`: first sizes, which have a
// distance, then settings, which are equal or not. Standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace autotune::db {

/// Removes the sizes from the front of `problem` and leaves the settings. `names` as in
/// KernelRow::sizes: `M N K`. Returns their number. Returns nullopt if the text does not begin with
/// positive sizes of these names, or if `sizes` is too small.
std::optional<std::size_t> take_sizes(std::string_view& problem, std::string_view names,
                                      std::span<std::int64_t> sizes);

/// The number of sizes that `M N K` names.
std::size_t size_count_of(std::string_view names);

/// The same without the sizes' values.
bool take_sizes(std::string_view& problem, std::string_view names);

/// Root mean square of log2(a / b): 1 if every size differs by a factor of two.
double size_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace autotune::db
