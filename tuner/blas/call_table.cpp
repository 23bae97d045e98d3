// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/call_table.hpp"

#include <cstring>
#include <functional>
#include <numeric>

namespace autotune::blas {
namespace {

bool is_same(const CallShape& one, const CallShape& other) {
  return std::memcmp(&one, &other, sizeof one) == 0;
}

}  // namespace

std::uint64_t CallEntry::calls() const {
  return std::transform_reduce(
      counts.begin(), counts.end(), std::uint64_t{0}, std::plus<>(),
      [](const auto& count) { return count.load(std::memory_order_relaxed); });
}

CallTable::CallTable() : slots_(std::make_unique<std::atomic<CallEntry*>[]>(kSlots)) {}

CallEntry* CallTable::find_or_add(const CallShape& shape) {
  std::unique_lock lock(adding_, std::defer_lock);
  for (std::size_t at = word_hash(shape) % kSlots;; at = (at + 1) % kSlots) {
    CallEntry* entry = slots_[at].load(std::memory_order_acquire);
    if (!entry && !lock.owns_lock()) {
      lock.lock();
      entry = slots_[at].load(std::memory_order_acquire);
    }
    if (!entry) return add(shape, slots_[at]);
    if (is_same(entry->shape, shape)) return entry;
  }
}

CallEntry* CallTable::add(const CallShape& shape, std::atomic<CallEntry*>& slot) {
  const Outcome contract = contract_of(shape);
  const bool may_be_served = contract == Outcome::served;
  if (owned_.size() >= (may_be_served ? kMostEntries : kMostRefused)) return nullptr;
  owned_.push_back(std::make_unique<CallEntry>(shape, contract));
  slot.store(owned_.back().get(), std::memory_order_release);
  return owned_.back().get();
}

std::vector<CallEntry*> CallTable::entries() const {
  const std::lock_guard lock(adding_);
  std::vector<CallEntry*> all;
  for (const auto& entry : owned_) all.push_back(entry.get());
  return all;
}

}  // namespace autotune::blas
