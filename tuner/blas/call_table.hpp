// SPDX-License-Identifier: Apache-2.0
// Every shape of call that the program made, with its counts and its kernel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "tuner/blas/call_shape.hpp"

namespace autotune::blas {

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

}  // namespace autotune::blas
