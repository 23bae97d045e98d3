// SPDX-License-Identifier: Apache-2.0
// A short list that every call of cuBLAS looks into.
#pragma once

#include <atomic>
#include <utility>

namespace autotune::blas {

/// Grows only; lock-free, because a forked process may inherit a lock that nobody gives back.
template <class Value>
class GrowingList {
 public:
  template <class Predicate>
  const Value* find(const Predicate& holds) const {
    for (const Node* node = first_.load(std::memory_order_acquire); node; node = node->next) {
      if (holds(node->value)) return &node->value;
    }
    return nullptr;
  }
  /// Threads may add equal values at a time.
  const Value* add(Value value) {
    auto* const node = new Node{std::move(value), first_.load(std::memory_order_relaxed)};
    while (!first_.compare_exchange_weak(node->next, node, std::memory_order_release)) {
    }
    return &node->value;
  }

 private:
  struct Node {
    Value value;
    Node* next;
  };
  std::atomic<Node*> first_{nullptr};
};

}  // namespace autotune::blas
