// SPDX-License-Identifier: Apache-2.0
// Every shape of call that the program made, with its counts and its kernel.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/blas/call_shape.hpp"

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

/// Multiplications carry bits upwards only; the shift brings them down.
constexpr std::uint64_t mixed(std::uint64_t bits) noexcept {
  bits *= 0x9e3779b97f4a7c15u;
  return bits ^ (bits >> 32);
}

/// A sum of products, so that no multiplication waits for another.
template <class Object>
std::uint64_t word_hash(const Object& object) noexcept {
  static_assert(std::has_unique_object_representations_v<Object>);
  static_assert(sizeof object % sizeof(std::uint64_t) == 0);
  using Words = std::array<std::uint64_t, sizeof object / sizeof(std::uint64_t)>;
  constexpr Words kFactors = [] {
    Words factors{};
    for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = mixed(mixed(i + 1)) | 1;
    return factors;
  }();
  const auto words = std::bit_cast<Words>(object);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < words.size(); ++i)
    hash += (words[i] ^ (words[i] >> 32)) * kFactors[i];
  return mixed(hash);
}

class ServingKernel;

/// All members are thread-safe.
struct CallEntry {
  CallEntry(const CallShape& of, Outcome contract_of_shape)
      : shape(of), contract(contract_of_shape) {}

  const CallShape shape;
  const Outcome contract;  // served: kernels compute the same as cuBLAS
  std::array<std::atomic<std::uint64_t>, kOutcomes> counts{};
  std::atomic<bool> is_requested{false};              // its kernel is, or was, being prepared
  std::atomic<Outcome> why_not{Outcome::preparing};   // while there is no kernel
  std::atomic<const ServingKernel*> kernel{nullptr};  // never freed: graphs may hold it
  std::atomic<const ServingKernel*> failed{nullptr};  // a kernel that could not be launched
  std::atomic<bool> is_suspected{false};              // it failed once, in a capture that is broken
  std::atomic<std::uint64_t> recorded{0};             // calls that are in the workload file

  std::uint64_t calls() const;
  std::uint64_t calls(Outcome outcome) const {
    return counts[static_cast<std::size_t>(outcome)].load(std::memory_order_relaxed);
  }
};

/// Grows only. Finding a known shape takes no lock.
class CallTable {
 public:
  CallTable();
  /// nullptr once the table is full. Shapes that no kernel serves get half of it at most.
  CallEntry* find_or_add(const CallShape& shape);
  /// In the order in which they were first called.
  std::vector<CallEntry*> entries() const;

 private:
  static constexpr std::size_t kSlots = 16384;
  static constexpr std::size_t kMostEntries = kSlots / 2;
  static constexpr std::size_t kMostRefused = kMostEntries / 2;

  CallEntry* add(const CallShape& shape, std::atomic<CallEntry*>& slot);

  std::unique_ptr<std::atomic<CallEntry*>[]> slots_;
  mutable std::mutex adding_;
  std::vector<std::unique_ptr<CallEntry>> owned_;
};

// What a program called, at its end: the report (what was served, what was passed on, and why), and
// the workload file.

/// A summary, and a table with a line for each of the shapes with the most floating-point
/// operations.
std::string report_of(std::span<CallEntry* const> entries);

/// Appends the report to a file, or writes it to `stderr`.
void write_report(const std::string& where, std::span<CallEntry* const> entries);

/// A line of the workload file, without its end: JSON, a shape and how often it was called since
/// the line before. Lines of one shape add up, whichever process wrote them.
std::string workload_line(const CallShape& shape, std::uint64_t calls);

/// Appends the calls of an entry that are not in the file AUTOTUNE_BLAS_RECORD yet. Warns once if
/// it cannot be written.
void record_calls(CallEntry& entry);

/// Appends whole lines to a file, in one write unless the system takes them in parts. Begins a new
/// line where the file ends within one. False, and one warning a process, if that fails; a part of
/// the lines may then be in the file.
bool append_text(const std::string& file, const std::string& added);

}  // namespace autotune::blas
