// SPDX-License-Identifier: Apache-2.0
// The tables, and what a file must have to be one of ours.
#pragma once

#include <array>
#include <filesystem>

namespace SQLite {
class Database;
}

namespace autotune::db {

/// The tables, their indices, and the view `tuned` for people.
extern const char* const kSchema;

/// What SQLite's ANALYZE leaves.
extern const std::array<const char*, 2> kAnalyzeTables;

/// `ATDB`: identifies the database in the file's header.
inline constexpr int kApplicationId = 0x41544442;
/// Files of older versions are refused. After a release, a change of the schema needs a converter.
inline constexpr int kSchemaVersion = 11;
/// The oldest schema version that can read files of this one.
inline constexpr int kMinimumReader = 2;

/// Throws StoreError if the file has a table, an index, a view or a trigger that this version does
/// not make: reading it may take for ever, and writing it may do anything. Of a later version than
/// kSchemaVersion, only tables and indices are known to be harmless. Call before any table is read.
void expect_own_schema(SQLite::Database& database, const std::filesystem::path& path, int version);

/// Throws StoreError if a table or an index of this version is not there.
void expect_whole_schema(SQLite::Database& database, const std::filesystem::path& path);

/// Creates the tables in an empty database. Call inside a transaction.
void create_schema(SQLite::Database& database);

}  // namespace autotune::db
