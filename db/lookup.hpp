// SPDX-License-Identifier: Apache-2.0
// The best configurations of one target on one device, flat and read-only, for programs that ask
// often. Standard library only; nothing here throws once a table is made, locks or allocates.
#pragma once

#include <array>
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

/// How well a result fits the problem asked for, best first. Within one validity a layer that
/// stands above (user before site before shipped) wins; never across: a stale user row does not
/// hide a fresh shipped one.
enum class Validity : std::uint8_t {
  exact,                // this source, this environment
  environment_drifted,  // another driver or CUDA version: used, and said
  source_drifted,       // the kernel has changed since: a candidate to be verified again
};
std::string_view name_of(Validity validity);

/// Where the answer's configuration comes from.
enum class Origin : std::uint8_t {
  exact,              // tuned for this very problem
  transferred,        // the winner of a near problem
  same_architecture,  // tuned on another device of this compute capability
  default_configuration,
};
std::string_view name_of(Origin origin);

/// The most sizes that a problem can have.
inline constexpr std::size_t kMostSizes = 8;

/// One tuned problem.
struct LookupRow {
  std::array<std::int64_t, kMostSizes> sizes{};  // in the target's order; the rest are 0
  std::string configuration;                     // `BM=64 BN=64`
  std::string provenance;                        // pinned, measured, imported, predicted
  std::string baseline;  // `cublas cublasSgemm` where a vendor's library is faster; else empty
  double median_ns = 0;  // 0 when it was never timed
  double default_ns = 0;
  double baseline_ns = 0;
  Validity validity = Validity::exact;
  std::uint8_t layer = 0;   // 0 stands above 1
  bool same_device = true;  // else of the same compute capability only
};

/// Open addressing over (sizes): one probe reads one cache line of keys, the row lies beside it.
class LookupTable {
 public:
  /// Of several rows for the same sizes those of the own device come first, then the most valid,
  /// then pinned before tuned before predicted, then the uppermost layer; the first is kept.
  LookupTable(std::size_t size_count, std::vector<LookupRow> rows);

  /// The row of exactly these sizes, or nullptr. Below 50 ns.
  const LookupRow* find(std::span<const std::int64_t> sizes) const noexcept;

  /// The rows nearest by log distance, nearest first, of the same device where `same_device`. At
  /// most `near.size()`; returns how many. Reads the whole table: microseconds.
  struct Near {
    const LookupRow* row = nullptr;
    double distance = 0;  // root mean square of log2 of the sizes' ratios
  };
  std::size_t nearest(std::span<const std::int64_t> sizes, bool same_device,
                      std::span<Near> near) const noexcept;

  std::size_t size() const noexcept { return rows_.size(); }
  std::size_t size_count() const noexcept { return size_count_; }
  std::span<const LookupRow> rows() const noexcept { return rows_; }
  /// Of all that it holds: tables of equal content need no swap.
  std::uint64_t content_hash() const noexcept { return content_hash_; }

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t row = kEmpty;
  };
  static constexpr std::uint32_t kEmpty = 0xFFFFFFFF;

  /// Where a row with these sizes is, or would be.
  Slot& slot_of(std::uint64_t hash, std::span<const std::int64_t> sizes);

  std::size_t size_count_;
  std::vector<LookupRow> rows_;
  std::vector<double> logs_;  // log2 of the sizes, size_count_ a row
  std::vector<Slot> slots_;   // a power of two, at most half full
  std::uint64_t content_hash_ = 0;
};

/// A table that can be exchanged under its readers. Readers take no lock; a table stays until the
/// holder goes, so what a reader was given stays valid. A swap for an equal table is dropped, so
/// refreshing costs memory only where something changed.
class LookupHolder {
 public:
  explicit LookupHolder(LookupTable first) { swap(std::move(first)); }
  const LookupTable& table() const noexcept { return *current_.load(std::memory_order_acquire); }
  /// Any thread; true when the content changed.
  bool swap(LookupTable next);

 private:
  std::mutex writers_;
  std::vector<std::unique_ptr<const LookupTable>> tables_;
  std::atomic<const LookupTable*> current_{nullptr};
};

}  // namespace autotune::db
