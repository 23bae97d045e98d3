// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "tuner/core/expression.hpp"
#include "tuner/core/target.hpp"
#include "tuner/lock/lock.hpp"

namespace autotune {
namespace {

bool has_free_sizes(const LockedTarget& target, const LockedAnswer& answer) {
  const auto free = std::span(answer.sizes).subspan(target.key_sizes);
  return std::ranges::any_of(free, [](std::int64_t size) { return size != kDefaultSize; });
}

/// Those with or without free sizes, sorted by all sizes but the first, then by the first.
std::vector<const LockedAnswer*> sorted_part(const LockedTarget& target, bool with_free) {
  std::vector<const LockedAnswer*> part;
  for (const LockedAnswer& answer : target.answers) {
    if (has_free_sizes(target, answer) == with_free) part.push_back(&answer);
  }
  std::ranges::sort(part, {}, [](const LockedAnswer* answer) {
    std::vector<std::int64_t> order(answer->sizes.begin() + 1, answer->sizes.end());
    order.push_back(answer->sizes.front());
    return order;
  });
  return part;
}

std::vector<db::LookupRow> rows_of(std::size_t size_count,
                                   std::span<const LockedAnswer* const> sorted,
                                   std::vector<std::size_t>& begin) {
  std::vector<db::LookupRow> rows;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto others = std::span(sorted[i]->sizes).subspan(1, size_count - 1);
    if (!rows.empty() && std::ranges::equal(rows.back().sizes, others)) continue;
    rows.emplace_back().sizes.assign(others.begin(), others.end());
    begin.push_back(i);
  }
  begin.push_back(sorted.size());
  return rows;
}

}  // namespace

LockTable::Part::Part(std::size_t size_count, std::vector<const LockedAnswer*> sorted)
    : others_(size_count - 1, rows_of(size_count, sorted, begin_)) {
  for (const LockedAnswer* each : sorted) ranges_.push_back({each->sizes[0], each->last, each});
}

const LockedAnswer* LockTable::Part::find(std::span<const std::int64_t> sizes) const noexcept {
  const db::LookupRow* const row = others_.find(sizes.subspan(1));
  if (!row) return nullptr;
  const auto at = static_cast<std::size_t>(row - others_.rows().data());
  const auto ranges = std::span(ranges_).subspan(begin_[at], begin_[at + 1] - begin_[at]);
  const auto range = std::ranges::lower_bound(ranges, sizes.front(), {}, &Range::last);
  return range != ranges.end() && range->first <= sizes.front() ? range->answer : nullptr;
}

LockTable::LockTable(const LockedTarget& target)
    : plain_(target.key_sizes, sorted_part(target, false)),
      with_free_sizes_(target.sizes.size(), sorted_part(target, true)) {}

const LockedAnswer* LockTable::find(std::span<const std::int64_t> sizes) const noexcept {
  if (sizes.size() == plain_.size_count()) return plain_.find(sizes);
  return sizes.size() == with_free_sizes_.size_count() ? with_free_sizes_.find(sizes) : nullptr;
}

}  // namespace autotune
