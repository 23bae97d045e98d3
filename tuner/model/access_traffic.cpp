// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/access_traffic.hpp"

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using Coordinates = std::array<std::int64_t, kCoordinates.size()>;  // tx ty tz bx by bz

std::int64_t index_at(const AccessSpec& access, const Coordinates& at, const NameValues& values) {
  return access.index.evaluate([&](const std::string& name) {
    const auto found = std::ranges::find(kCoordinates, name);
    return found == kCoordinates.end() ? values(name)
                                       : at[static_cast<std::size_t>(found - kCoordinates.begin())];
  });
}

std::int64_t predicted(const AffineIndex& index, const Coordinates& at) {
  return index.offset + index.per_thread.x * at[0] + index.per_thread.y * at[1] +
         index.per_thread.z * at[2] + index.per_block.x * at[3] + index.per_block.y * at[4] +
         index.per_block.z * at[5];
}

/// From the index at the origin and one step along each coordinate; held against the far corner and
/// the middle of the launch.
AffineIndex affine_index(const AccessSpec& access, const Dim3& grid, const Dim3& block,
                         const NameValues& values) {
  const Coordinates extents{block.x, block.y, block.z, grid.x, grid.y, grid.z};
  const std::int64_t origin = index_at(access, {}, values);
  Coordinates steps{}, corner{}, middle{};
  for (std::size_t i = 0; i < extents.size(); ++i) {
    corner[i] = extents[i] - 1;
    middle[i] = extents[i] / 2;
    Coordinates one{};
    one[i] = 1;
    if (extents[i] > 1) steps[i] = index_at(access, one, values) - origin;
  }
  const AffineIndex index{{steps[0], steps[1], steps[2]}, {steps[3], steps[4], steps[5]}, origin};
  for (const Coordinates& at : {corner, middle}) {
    if (index_at(access, at, values) == predicted(index, at)) continue;
    throw Error(
        format("\"{}\": the index is not affine in tx, ty, tz, bx, by and bz (write it as a "
               "sum of their multiples)",
               access.text));
  }
  return index;
}

std::int64_t value_or_1(const std::optional<Expression>& expression, const NameValues& values) {
  return expression ? expression->evaluate(values) : 1;
}

}  // namespace

std::optional<GlobalTraffic> access_traffic(const Multiprocessor& sm, const AccessSpec& access,
                                            int element_bytes, const Dim3& grid, const Dim3& block,
                                            const NameValues& values) {
  if (value_or_1(access.when, values) == 0) return std::nullopt;
  const std::int64_t wide = value_or_1(access.wide, values);
  const std::int64_t times = value_or_1(access.times, values);
  if (wide < 1 || times < 0) {
    throw Error(format("\"{}\": wide is {} and times {} (wide is at least 1, times at least 0)",
                       access.text, wide, times));
  }
  GlobalTraffic traffic = global_traffic(sm,
                                         {.index = affine_index(access, grid, block, values),
                                          .bytes = element_bytes,
                                          .width = static_cast<int>(wide),
                                          .store = access.store},
                                         grid, block);
  traffic.requests *= times;
  traffic.transactions *= times;
  traffic.bytes_asked *= times;
  traffic.bytes_moved *= times;
  return traffic;
}

}  // namespace autotune
