// SPDX-License-Identifier: Apache-2.0
// The tables, and how an older file becomes a newer one.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace SQLite {
class Database;
}

namespace autotune::db {

/// `ATDB` in the header of the file says whose database it is.
inline constexpr int kApplicationId = 0x41544442;
inline constexpr int kSchemaVersion = 4;
/// Readers from this version on understand what this one writes.
inline constexpr int kMinimumReader = 2;

/// Brings a file from version `from` to `from + 1`.
struct Migration {
  int from = 0;
  const char* sql = "";
};

/// Makes the tables in an empty database. Call inside a transaction.
void create_schema(SQLite::Database& database);

/// Runs each step from `version`, which the file was seen to have, up to `to` in a transaction of
/// its own, the first after a copy to `FILE.v<version>.backup` (`.backup.2` where another copy has
/// that name). Any number of processes may do so at once. Throws StoreError when a step is missing;
/// a failing step leaves the version before it.
void migrate(SQLite::Database& database, const std::filesystem::path& path, int version, int to,
             std::span<const Migration> steps);

/// The steps to kSchemaVersion.
std::span<const Migration> migrations();

}  // namespace autotune::db
