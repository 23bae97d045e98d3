// SPDX-License-Identifier: Apache-2.0
// The SQL that creates the tables of the current schema version. docs/database.md describes them.
#pragma once

#include <array>

namespace autotune::db {

/// All tables but those below.
extern const char* const kTables;
/// With their indices. Migrations make these tables anew or add them.
extern const char* const kTrialTable;
extern const char* const kDecisionTable;
extern const char* const kRetractionTable;
extern const char* const kCounterTable;
/// Lists the settings of a target, and covers the search for the nearest problem.
extern const char* const kBestIndex;
/// Find what refutes an answer, and pins.
extern const char* const kAnswerIndexes;
/// The view `tuned`, for people.
extern const char* const kView;

/// CREATE statements with what older versions defined otherwise, and those of SQLite's ANALYZE.
extern const std::array<const char*, 5> kOlderDefinitions;

}  // namespace autotune::db
