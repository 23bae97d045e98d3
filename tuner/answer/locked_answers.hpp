// SPDX-License-Identifier: Apache-2.0
// The answers that a lock holds for a target with fixed settings on one device.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/answer/lookup_answer.hpp"
#include "tuner/answer/sized_target.hpp"
#include "tuner/lock/lock.hpp"

namespace autotune {

class LockedAnswers {
 public:
  /// The target must outlive it. Throws Error if the lock was made for another version of it.
  LockedAnswers(std::shared_ptr<const Lock> lock, const SizedTarget& sized,
                const std::string& settings, const std::string& policy);

  const Lock& lock() const { return *lock_; }
  /// That the lock is of another environment; else empty.
  const std::string& warning() const { return warning_; }
  /// nullptr: the lock holds no answer for these sizes as they are. Neither locks nor allocates for
  /// sizes of the key.
  const LookupAnswer* find(std::span<const std::int64_t> sizes) const;

 private:
  const std::shared_ptr<const Lock> lock_;
  const std::size_t key_sizes_, all_sizes_;
  std::string warning_;
  std::optional<LockTable> table_;  // of this target and these settings
  const LockedAnswer* first_ = nullptr;
  std::vector<LookupAnswer> answers_;  // of each, so that a look-up reads one place
};

}  // namespace autotune
