// SPDX-License-Identifier: Apache-2.0
// What is known of a target at tuned problems: times of good configurations and of the vendor's
// library. It serves to choose a configuration for untuned sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/lookup.hpp"
#include "db/lookup_source.hpp"
#include "db/rows.hpp"

namespace autotune::db {

struct PastTime {
  std::string configuration;
  double ns = 0;           // 0: never timed
  std::string provenance;  // as in LookupRow
  Validity validity = Validity::exact;
};

/// The note of a pin that belongs to a cover starts with this. The whole note names the cover.
inline constexpr std::string_view kCoverNote = "cover of ";
/// And that of a cover whose configurations give the same bits. When it was made is its last word.
inline constexpr std::string_view kBitsNote = "cover of bits ";

/// One problem on one device.
struct PastProblem {
  std::vector<std::int64_t> sizes;  // in the target's order
  std::size_t device = 0;           // in PastTimes::devices
  bool source_drifted = false;      // the kernel has changed since
  bool own_settings = true;         // of the request, not alike ones
  bool is_answered = false;         // has a best row
  std::vector<PastTime> good;       // fastest first; never timed ones last
  std::vector<PastTime> slower;     // all others that were timed, by their texts
  PastTime standard;                // the default configuration
  std::string baseline;             // plugin of the vendor's library; may be empty
  double baseline_ns = 0;           // of its fastest candidate
  std::string cover;                // the cover that pinned it; else empty
  PastTime pinned;                  // what the cover pinned

  /// nullptr if it was not timed there.
  const PastTime* timed(std::string_view configuration) const;
};

/// Configurations that failed at one problem on the request's device, with its source. They are no
/// answer there, wherever they are good.
struct FailedThere {
  std::vector<std::int64_t> sizes;
  std::vector<std::string> configurations;
};

struct PastTimes {
  std::vector<DeviceRow> devices;
  std::vector<PastProblem> problems;
  std::vector<FailedThere> failed;  // only of problems without an answer of their own
  /// Of each layer that is there and was not read completely, as those of LookupRows.
  std::vector<std::string> warnings;
};

/// The problems with the request's target, settings and policy, on its device and others of its
/// architecture. Includes all versions of the source, so the reader must check that a configuration
/// is valid. Only what may be an answer: nothing damaged, retracted or refuted. At most `kMostGood`
/// configurations a problem are good, those within a quarter of its fastest. Where trials cannot be
/// read, winners count.
PastTimes read_past_times(std::span<const Layer> layers, const LookupRequest& request);

inline constexpr std::size_t kMostGood = 24;

}  // namespace autotune::db
