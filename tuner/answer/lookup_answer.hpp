// SPDX-License-Identifier: Apache-2.0
// What a lookup finds for the sizes of one target, how two answers compare, and what a person
// reads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/lookup.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/core/target.hpp"
#include "tuner/lock/lock.hpp"

namespace autotune {

struct LockedAnswer;

struct LookupAnswer {
  /// Whether no times of this environment and these settings tell which of the configuration and
  /// the library is faster, where there is a library.
  bool is_open() const {
    if (is_locked) return false;
    if (library_is_expected) return true;
    const bool is_elsewhere =
        validity == db::Validity::environment_drifted || validity == db::Validity::alike;
    return origin == db::Origin::exact && is_elsewhere && !is_pinned();
  }
  /// By a person, or by a cover.
  bool is_pinned() const { return provenance == "pinned"; }

  std::string_view configuration;  // valid as long as the TargetLookup
  std::string_view provenance;
  db::Origin origin = db::Origin::default_configuration;
  db::Validity validity = db::Validity::exact;
  double median_ns = 0;
  double default_ns = 0;
  double distance = 0;  // root mean square of log2 of the sizes' ratios
  /// The baseline and its candidate, if it was measured to be faster for these sizes on this
  /// device: `cublas cublasSgemm`. Its plugin alone, if ours is not known to be faster.
  std::string_view baseline = {};
  double baseline_ns = 0;  // measured or expected; 0: unknown
  /// A library computes the problem, and was not timed for these sizes on this device: whether it
  /// answers is by expectation.
  bool library_is_expected = false;
  /// Measured to be faster with an early start, in a chain of its own calls.
  bool early_start = false;
  /// Of the configuration at these very sizes: measured, or expected by the cost model and near
  /// times. 0: unknown. `median_ns` of a transferred answer is the time at the near sizes.
  double expected_ns = 0;
  /// A lock answers: nothing is searched, raced or earned. `configuration` is empty where
  /// `baseline` answers.
  bool is_locked = false;
  const LockedAnswer* locked = nullptr;  // nullptr: the lock's fallback answers
};

/// Several lines: the configuration, where it comes from, its time there, and the vendor's library
/// if that is faster.
std::string explanation_of(const Target& target, const Problem& problem, const DeviceInfo& device,
                           const LookupAnswer& answer);

/// What the times of two answers are: of the kernel alone, or of the vendor's library where that is
/// faster.
enum class Engines : std::uint8_t { kernels_only, with_libraries };

/// Whether `other`, which computes the same as `own`, is to be preferred: it was tuned for these
/// sizes or others within two doublings, and is faster. Another GPU of the architecture counts as
/// half a doubling. Where both were measured for exactly these sizes, these times decide. Else
/// expected times do, and has_clear_lead() tells whether the lead is clear. A measured time of
/// `own` gives way only for the largest lead. False if `own` is pinned, if a time is unknown, or if
/// a library is expected to be faster than `other`.
bool is_faster(const LookupAnswer& other, const LookupAnswer& own, Engines engines);

// The answers that a lock holds for a target with fixed settings on one device.

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
