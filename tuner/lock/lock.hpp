// SPDX-License-Identifier: Apache-2.0
// A lock: decisions and compiled kernels for one device in one file, which programs open in place
// of databases. docs/lock.md documents the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/lookup.hpp"
#include "db/rows.hpp"

namespace autotune {

/// What answers for sizes that a lock does not hold.
enum class LockFallback : std::uint8_t {
  vendor,  // the vendor's library; an error where there is none
  error
};
std::string_view name_of(LockFallback fallback);

/// The answer for some sizes.
struct LockedAnswer {
  /// All sizes of the target; free ones that are left to their defaults are kDefaultSize.
  std::vector<std::int64_t> sizes;
  /// The answer holds for all values of the first size from sizes[0] to this. Times are of the last
  /// one.
  std::int64_t last = 0;
  std::string configuration;  // empty: the library answers
  std::string library;        // `cublas cublasSgemm`; empty: the configuration answers
  std::string provenance;
  std::string bits;  // the reduction class of the configuration at these sizes; empty: not known
  db::Origin origin = db::Origin::exact;
  double median_ns = 0, default_ns = 0, expected_ns = 0, library_ns = 0;  // 0: not known
  double distance = 0;
  bool early_start = false;
  bool library_is_expected = false;  // as in LookupAnswer
  std::size_t kernel = 0;            // of Lock::kernels, if there is a configuration

  friend bool operator==(const LockedAnswer&, const LockedAnswer&) = default;
};

/// The answers for one target with fixed settings.
struct LockedTarget {
  std::string target;
  std::string fingerprint;         // of the target whose kernels these are
  std::vector<std::string> sizes;  // their names, free ones last
  std::size_t key_sizes = 0;       // how many are not free
  std::string settings, policy;
  std::vector<LockedAnswer> answers;  // sorted by sizes
};

struct LockedKernel {
  std::string key;  // content address: source, options, compiler version, architecture
  std::shared_ptr<const std::string> binary;
};

struct Lock {
  std::filesystem::path path;  // where it was read
  std::string tool_version, created_at, command;
  db::DeviceRow device;
  std::string environment;  // `driver 580.82, CUDA 13.0, NVRTC 13.0.88`; empty: made elsewhere
  LockFallback fallback = LockFallback::vendor;
  std::vector<LockedKernel> kernels;
  std::vector<LockedTarget> targets;

  /// nullptr if it holds nothing for these.
  const LockedTarget* find(std::string_view target, std::string_view settings,
                           std::string_view policy) const;
};

/// Whether the file is called NAME.lock, which need not exist, or begins as locks of any format do.
bool is_lock(const std::filesystem::path& file);

/// Merges answers whose first sizes follow each other without a gap and that do not differ in
/// anything but times. Sorts the answers.
void merge_ranges(std::vector<LockedAnswer>& answers);

/// The bytes of a file.
std::string lock_text(const Lock& lock);

/// Throws Error with the file and what is wrong: another format, a missing end, a changed byte, or
/// contents that no lock has.
Lock parse_lock(std::string_view bytes, const std::filesystem::path& file);
Lock read_lock(const std::filesystem::path& file);

/// The lock in this file, read once by all that have it open: what the file holds later changes no
/// answer until then.
std::shared_ptr<const Lock> opened_lock(const std::filesystem::path& file);

/// Finds the answers of one target. A look-up never throws, locks or allocates.
class LockTable {
 public:
  /// The target must outlive it.
  explicit LockTable(const LockedTarget& target);

  /// For the sizes of the key, or for all of them. nullptr: none is held.
  const LockedAnswer* find(std::span<const std::int64_t> sizes) const noexcept;

 private:
  /// A hash table with open addressing over all sizes but the first. A slot is one row of numbers:
  /// these sizes, then the begin and the end of their ranges. A free slot has the end 0.
  class Part {
   public:
    Part(std::size_t size_count, std::vector<const LockedAnswer*> sorted);
    std::size_t size_count() const { return size_count_; }
    const LockedAnswer* find(std::span<const std::int64_t> sizes) const noexcept;

   private:
    struct Range {
      std::int64_t first, last;
      const LockedAnswer* answer;
    };
    /// The slot of these sizes, used or free.
    std::size_t slot_of(const std::int64_t* others) const noexcept;

    std::size_t size_count_;
    std::size_t mask_ = 0;             // one less than the number of slots, a power of two
    std::vector<std::int64_t> slots_;  // at most half of them used
    std::vector<Range> ranges_;        // sorted
  };

  Part plain_, with_free_sizes_;
};

}  // namespace autotune
