// SPDX-License-Identifier: Apache-2.0
// The best configurations of one target on one device: a flat, read-only table for frequent
// lookups. Standard library only. A finished table never throws, locks or allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune::db {

/// How well a result fits the problem asked about, best first. Layers (user before site before
/// shipped) only decide within one validity: a stale user row does not hide a fresh shipped one.
enum class Validity : std::uint8_t {
  exact,                // this source, this environment
  environment_drifted,  // another driver or CUDA version; used, and reported
  alike,                // of settings whose times are the same; used, and reported
  source_drifted,       // the kernel has changed since: verify it again
};
std::string_view name_of(Validity validity);

/// The source of an answer's configuration.
enum class Origin : std::uint8_t {
  exact,              // tuned for this very problem
  transferred,        // the winner of a near problem
  same_architecture,  // tuned on another device of this compute capability
  default_configuration,
};
std::string_view name_of(Origin origin);

/// One tuned problem.
struct LookupRow {
  std::vector<std::int64_t> sizes;  // in the target's order
  std::string configuration;        // `BM=64 BN=64`
  std::string provenance;           // pinned, measured, in use, imported, …
  std::string baseline;             // `cublas cublasSgemm` if the baseline is faster; else empty
  double median_ns = 0;             // 0: never timed
  double default_ns = 0;
  double baseline_ns = 0;
  Validity validity = Validity::exact;
  std::uint8_t layer = 0;   // 0 is uppermost
  bool same_device = true;  // false: another device of the same compute capability
  /// In a chain of its calls, it was faster with an early start than in order.
  bool early_start = false;
  bool library_timed = false;  // beside the vendor's library, whichever was faster
  bool same_policy = true;     // false: timed in a chain, although another context was requested

  /// Tuned with this source on this device.
  bool is_exact() const { return same_device && validity != Validity::source_drifted; }
  bool is_pinned() const { return provenance == "pinned"; }
  bool is_pinned_alike() const { return is_pinned() && validity == Validity::alike; }
};

/// A hash table over sizes with open addressing. A probe reads one cache line of keys.
class LookupTable {
 public:
  /// Keeps one of several rows for the same sizes. Compared in turn: this device first, then
  /// validity, then pinned before tuned before predicted, then the layer, then the policy. A pin of
  /// alike settings counts as exact.
  LookupTable(std::size_t size_count, std::vector<LookupRow> rows);

  /// The row of exactly these sizes, or nullptr. Takes less than 50 ns.
  const LookupRow* find(std::span<const std::int64_t> sizes) const noexcept;

  std::size_t size() const noexcept { return rows_.size(); }
  std::size_t size_count() const noexcept { return size_count_; }
  std::span<const LookupRow> rows() const noexcept { return rows_; }
  /// Hash of the whole content; tables of equal content need no swap.
  std::uint64_t content_hash() const noexcept { return content_hash_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t row = kEmpty;
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFF;

  /// The slot of these sizes, used or free.
  Slot& slot_of(std::uint64_t hash, std::span<const std::int64_t> sizes);

  std::span<const std::int64_t> sizes_of(std::uint32_t row) const noexcept {
    return std::span(sizes_).subspan(row * size_count_, size_count_);
  }

  std::size_t size_count_;
  std::vector<LookupRow> rows_;
  std::vector<std::int64_t> sizes_;  // of all rows, beside each other
  std::vector<Slot> slots_;          // a power of two, at most half full
  std::uint64_t content_hash_ = 0;
};

/// A table that can be swapped while others read it. Readers take no lock. Old tables live as long
/// as the holder, so references stay valid. A swap for an equal table is dropped, so memory grows
/// only with changes.
class LookupHolder {
 public:
  explicit LookupHolder(LookupTable first) { swap(std::move(first)); }
  const LookupTable& table() const noexcept { return *current_.load(std::memory_order_acquire); }
  /// Thread-safe; true if the content changed.
  bool swap(LookupTable next);

 private:
  std::mutex writers_;
  std::vector<std::unique_ptr<const LookupTable>> tables_;
  std::atomic<const LookupTable*> current_{nullptr};
};

}  // namespace autotune::db
