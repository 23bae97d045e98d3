// SPDX-License-Identifier: Apache-2.0
// The canonical text of a problem, `M=512 N=512 K=512 dtype=f32`: sizes, which can be near, then
// settings, which are the same or not. Standard library only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace autotune::db {

/// Takes the sizes off the front of `problem` and leaves the settings. `names` as in
/// KernelRow::sizes: `M N K`. Returns how many there are; nullopt where the text does not begin
/// with positive sizes of these names, or `sizes` has no room for them.
std::optional<std::size_t> take_sizes(std::string_view& problem, std::string_view names,
                                      std::span<std::int64_t> sizes);

/// The same where nobody needs the sizes.
bool take_sizes(std::string_view& problem, std::string_view names);

/// Root mean square of log2(a / b): 1 where every size is off by a factor of two.
double size_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace autotune::db
