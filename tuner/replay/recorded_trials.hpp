// SPDX-License-Identifier: Apache-2.0
// Stored trials of one problem in the form of recorded results.
#pragma once

#include "db/rows.hpp"
#include "tuner/interchange/recorded_results.hpp"

namespace autotune {

/// The trials of the search or an import: each configuration once, with its latest result, and the
/// values that occur, in ascending order. Configurations of an earlier manifest, whose parameters
/// differ from the latest, are left out. Device, kernel and sizes stay empty.
RecordedResults recorded_trials(std::vector<db::TrialRow> rows);

}  // namespace autotune
