// SPDX-License-Identifier: Apache-2.0
// Groups trials by the reason why they were not timed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/rows.hpp"

namespace autotune {

/// Trials that were not timed for the same reason. Reasons that differ only in numbers count as the
/// same.
struct Reason {
  std::string outcome, example;
  std::vector<std::size_t> trials;  // their indices
  int count() const { return static_cast<int>(trials.size()); }
};

/// How a trial ended: the name of its outcome, and why.
struct Ending {
  std::string_view outcome, message;
};

/// Most frequent first.
std::vector<Reason> reasons_of(std::span<const Ending> endings);
std::vector<Reason> reasons_of(const std::vector<db::TrialRow>& trials);

/// Explains a trial's short message.
std::string_view meaning_of(std::string_view message);

}  // namespace autotune
