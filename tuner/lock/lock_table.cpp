// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstdint>

#include "tuner/core/expression.hpp"
#include "tuner/core/problem.hpp"
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

}  // namespace

inline std::size_t LockTable::Part::slot_of(const std::int64_t* sizes) const noexcept {
  const std::size_t others = size_count_ - 1;
  // A sum of products, which a processor computes side by side.
  std::uint64_t hash = 0, factor = 0x9E3779B97F4A7C15u;
  for (std::size_t i = 0; i < others; ++i, factor += 0x3C6EF372FE94F82Au) {
    hash += static_cast<std::uint64_t>(sizes[i]) * factor;
  }
  for (std::size_t at = hash ^ hash >> 32 ^ hash >> 47;; ++at) {
    const std::size_t slot = (at & mask_) * (others + 2);
    const std::int64_t* const held = &slots_[slot];
    std::int64_t different = 0;  // a call of memcmp would take as long as all the rest
    for (std::size_t i = 0; i < others; ++i) different |= sizes[i] ^ held[i];
    if (different == 0 || held[others + 1] == 0) return slot;
  }
}

LockTable::Part::Part(std::size_t size_count, std::vector<const LockedAnswer*> sorted)
    : size_count_(size_count), mask_(std::bit_ceil(sorted.size() * 2 + 1) - 1) {
  const std::size_t others = size_count - 1;
  slots_.resize((mask_ + 1) * (others + 2));
  for (const LockedAnswer* each : sorted) {
    const std::size_t slot = slot_of(each->sizes.data() + 1);
    if (slots_[slot + others + 1] == 0) {
      std::ranges::copy(std::span(each->sizes).subspan(1, others), &slots_[slot]);
      slots_[slot + others] = std::ssize(ranges_);
    }
    ranges_.push_back({each->sizes[0], each->last, each});
    slots_[slot + others + 1] = std::ssize(ranges_);
  }
}

const LockedAnswer* LockTable::Part::find(std::span<const std::int64_t> sizes) const noexcept {
  const std::int64_t* const slot = &slots_[slot_of(sizes.data() + 1)] + size_count_ - 1;
  const Range* range = ranges_.data() + slot[0];
  const Range* const end = ranges_.data() + slot[1];
  if (slot[1] == 0) return nullptr;
  if (end - range > 1) {
    range = std::lower_bound(range, end, sizes.front(),
                             [](const Range& one, std::int64_t size) { return one.last < size; });
  }
  const bool holds = range != end && range->first <= sizes.front() && sizes.front() <= range->last;
  return holds ? range->answer : nullptr;
}

LockTable::LockTable(const LockedTarget& target)
    : plain_(target.key_sizes, sorted_part(target, false)),
      with_free_sizes_(target.sizes.size(), sorted_part(target, true)) {}

const LockedAnswer* LockTable::find(std::span<const std::int64_t> sizes) const noexcept {
  if (sizes.size() == plain_.size_count()) return plain_.find(sizes);
  return sizes.size() == with_free_sizes_.size_count() ? with_free_sizes_.find(sizes) : nullptr;
}

}  // namespace autotune
