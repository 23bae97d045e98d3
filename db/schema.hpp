// SPDX-License-Identifier: Apache-2.0
// The tables, and the migration of older files.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace SQLite {
class Database;
}

namespace autotune::db {

/// `ATDB`: identifies the database in the file's header.
inline constexpr int kApplicationId = 0x41544442;
inline constexpr int kSchemaVersion = 9;
/// The oldest schema version that can read files of this one.
inline constexpr int kMinimumReader = 2;

/// Throws StoreError if the file has a table, an index, a view or a trigger that no version made:
/// reading it may take for ever, and writing it may do anything. Of a later version than
/// kSchemaVersion, only tables and indices are known to be harmless. Call before any table is read.
void expect_own_schema(SQLite::Database& database, const std::filesystem::path& path, int version);

/// Brings a file from version `from` to `from + 1`.
struct Migration {
  int from = 0;
  const char* sql = "";
};

/// Creates the tables in an empty database. Call inside a transaction.
void create_schema(SQLite::Database& database);

/// Migrates a file from `version`, the version it was seen to have, to version `to`. Each step runs
/// in its own transaction. The first step follows a copy to `FILE.v<version>.backup` (`.backup.2`
/// if another copy has that name). Several processes may migrate at once. Throws StoreError if a
/// step is missing; after a failed step, the file keeps the previous version.
void migrate(SQLite::Database& database, const std::filesystem::path& path, int version, int to,
             std::span<const Migration> steps);

/// The steps to kSchemaVersion.
std::span<const Migration> migrations();

}  // namespace autotune::db
