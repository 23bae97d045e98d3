// SPDX-License-Identifier: Apache-2.0
// Results of other tuners as rows of the database.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/rows.hpp"
#include "tuner/core/target.hpp"
#include "tuner/interchange/recorded_results.hpp"

namespace autotune::cli {

/// Rows without ids: the caller sets session, device and kernel.
struct ImportedRows {
  std::string started_at;  // the earliest time of day
  std::vector<db::TrialRow> trials;
  std::optional<db::DecisionRow> decision;  // of the fastest, with provenance `imported`
  std::size_t left_out = 0;                 // configurations that are not the target's
};

/// None of the rows is verified. Their policy names the tuner (`by=kernel_tuner`), so they are
/// never compared with our times, and programs do not get them. Equal files give equal rows:
/// results without a time of day get `otherwise`. Throws Error if the file's parameters are not the
/// target's.
ImportedRows imported_rows(const RecordedResults& results, const Target& target,
                           const Problem& problem, const DeviceInfo& device,
                           const std::string& otherwise);

}  // namespace autotune::cli
