// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <bit>
#include <functional>
#include <numeric>

namespace autotune::blas {
namespace {

std::uint64_t hash_of(const CallShape& shape) {
  static_assert(sizeof(CallShape) % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof(CallShape) / sizeof(std::uint64_t)>;
  std::uint64_t hash = 0;
  for (const std::uint64_t word : std::bit_cast<Words>(shape)) {
    hash = std::rotl(hash ^ word, 29) * 0x9e3779b97f4a7c15u;
  }
  return hash ^ (hash >> 32);
}

}  // namespace

std::uint64_t CallEntry::calls() const {
  return std::transform_reduce(
      counts.begin(), counts.end(), std::uint64_t{0}, std::plus<>(),
      [](const auto& count) { return count.load(std::memory_order_relaxed); });
}

CallTable::CallTable() : slots_(std::make_unique<std::atomic<CallEntry*>[]>(kSlots)) {}

CallEntry* CallTable::find_or_add(const CallShape& shape) {
  const std::uint64_t hash = hash_of(shape);
  std::unique_lock lock(adding_, std::defer_lock);
  for (std::size_t at = hash % kSlots;; at = (at + 1) % kSlots) {
    CallEntry* entry = slots_[at].load(std::memory_order_acquire);
    if (!entry && !lock.owns_lock()) {
      lock.lock();
      entry = slots_[at].load(std::memory_order_acquire);
    }
    if (entry && entry->shape == shape) return entry;
    if (entry) continue;
    if (owned_.size() >= kMostEntries) return nullptr;
    owned_.push_back(std::make_unique<CallEntry>(shape));
    slots_[at].store(owned_.back().get(), std::memory_order_release);
    return owned_.back().get();
  }
}

std::vector<CallEntry*> CallTable::entries() const {
  const std::lock_guard lock(adding_);
  std::vector<CallEntry*> all;
  for (const auto& entry : owned_) all.push_back(entry.get());
  return all;
}

}  // namespace autotune::blas
