// SPDX-License-Identifier: Apache-2.0
// The SQL that creates the tables of the current schema version. docs/database.md describes them.
#pragma once

#include <array>

namespace autotune::db {

/// The tables, their indices, and the view `tuned` for people.
extern const char* const kSchema;

/// What SQLite's ANALYZE leaves.
extern const std::array<const char*, 2> kAnalyzeTables;

}  // namespace autotune::db
