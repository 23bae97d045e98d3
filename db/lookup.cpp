// SPDX-License-Identifier: Apache-2.0
#include "db/lookup.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <tuple>

namespace autotune::db {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) noexcept {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15u;
  return hash ^ hash >> 32;
}

std::uint64_t hash_of(std::span<const std::int64_t> sizes) noexcept {
  std::uint64_t hash = sizes.size();
  for (const std::int64_t size : sizes) hash = mixed(hash, static_cast<std::uint64_t>(size));
  return hash;
}

int rank_of(std::string_view provenance) {
  if (provenance == "pinned") return 0;
  if (provenance == "predicted") return 3;
  return provenance == "first use" ? 2 : 1;  // a whole search outranks a first use
}

/// The order of rows for the same sizes.
bool stands_above(const LookupRow& a, const LookupRow& b) {
  const auto standing = [](const LookupRow& row) {
    return std::make_tuple(!row.same_device, row.is_pinned_alike() ? Validity::exact : row.validity,
                           rank_of(row.provenance), row.layer, !row.same_policy);
  };
  if (standing(a) != standing(b)) return standing(a) < standing(b);
  return a.configuration < b.configuration;
}

std::uint64_t content_of(const LookupRow& row) {
  std::uint64_t hash = hash_of(row.sizes);
  for (const std::string* text : {&row.configuration, &row.provenance, &row.baseline}) {
    hash = mixed(hash, std::hash<std::string>()(*text));
  }
  hash = mixed(hash, std::bit_cast<std::uint64_t>(row.median_ns));
  hash = mixed(hash, std::bit_cast<std::uint64_t>(row.default_ns));
  hash = mixed(hash, std::bit_cast<std::uint64_t>(row.baseline_ns));
  return mixed(
      hash, static_cast<std::uint64_t>(row.validity) << 2 | row.early_start << 1 | row.same_device);
}

}  // namespace

std::string_view name_of(Validity validity) {
  static constexpr std::array<std::string_view, 4> kNames{"exact", "environment drifted",
                                                          "with alike settings", "source drifted"};
  return kNames[static_cast<std::size_t>(validity)];
}

std::string_view name_of(Origin origin) {
  static constexpr std::array<std::string_view, 4> kNames{"exact", "transferred",
                                                          "same architecture", "default"};
  return kNames[static_cast<std::size_t>(origin)];
}

LookupTable::LookupTable(std::size_t size_count, std::vector<LookupRow> rows)
    : size_count_(size_count), rows_(std::move(rows)) {
  slots_.resize(std::bit_ceil(std::max<std::size_t>(rows_.size() * 2, 2)));
  sizes_.reserve(rows_.size() * size_count_);
  std::size_t kept = 0;  // rows kept so far, at the front
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::span<const std::int64_t> sizes(rows_[i].sizes);
    if (sizes.size() != size_count_) continue;  // no question finds it
    const std::uint64_t hash = hash_of(sizes);
    Slot& slot = slot_of(hash, sizes);
    if (slot.row == kEmpty) {
      slot = {hash, static_cast<std::uint32_t>(kept)};
      sizes_.insert(sizes_.end(), sizes.begin(), sizes.end());
      if (kept != i) rows_[kept] = std::move(rows_[i]);
      ++kept;
    } else if (stands_above(rows_[i], rows_[slot.row])) {
      rows_[slot.row] = std::move(rows_[i]);
    }
  }
  rows_.resize(kept);
  // A sum, because the order of rows does not matter.
  for (const LookupRow& row : rows_) content_hash_ += content_of(row);
}

LookupTable::Slot& LookupTable::slot_of(std::uint64_t hash, std::span<const std::int64_t> sizes) {
  std::size_t at = hash & (slots_.size() - 1);
  while (slots_[at].row != kEmpty &&
         !(slots_[at].hash == hash && std::ranges::equal(sizes, sizes_of(slots_[at].row)))) {
    at = (at + 1) & (slots_.size() - 1);
  }
  return slots_[at];
}

const LookupRow* LookupTable::find(std::span<const std::int64_t> sizes) const noexcept {
  if (sizes.size() != size_count_) return nullptr;
  const std::uint64_t hash = hash_of(sizes);
  for (std::size_t at = hash & (slots_.size() - 1); slots_[at].row != kEmpty;
       at = (at + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[at];
    if (slot.hash == hash && std::ranges::equal(sizes, sizes_of(slot.row))) {
      return &rows_[slot.row];
    }
  }
  return nullptr;
}

bool LookupHolder::swap(LookupTable next) {
  const std::lock_guard lock(writers_);
  const LookupTable* current = current_.load(std::memory_order_relaxed);
  if (current && current->content_hash() == next.content_hash()) return false;
  tables_.push_back(std::make_unique<const LookupTable>(std::move(next)));
  current_.store(tables_.back().get(), std::memory_order_release);
  return true;
}

}  // namespace autotune::db
