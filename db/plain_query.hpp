// SPDX-License-Identifier: Apache-2.0
// A statement for loops over a hundred thousand rows. Included by db/*.cpp only.
#pragma once

#include <SQLiteCpp/Exception.h>
#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace autotune::db {

/// Faster than SQLiteCpp's: no shared owner of each value, and no copies.
class PlainQuery {
 public:
  PlainQuery(sqlite3* database, const char* sql) : database_(database) {
    check(sqlite3_prepare_v2(database, sql, -1, &statement_, nullptr));
  }
  ~PlainQuery() { sqlite3_finalize(statement_); }
  PlainQuery(const PlainQuery&) = delete;
  PlainQuery& operator=(const PlainQuery&) = delete;

  /// `text` must outlive the query.
  void bind(int place, const std::string& text) {
    const auto length = static_cast<int>(text.size());
    check(sqlite3_bind_text(statement_, place, text.data(), length, SQLITE_STATIC));
  }
  /// From the first row on again, with another text.
  void restart(int place, const std::string& text) {
    sqlite3_reset(statement_);
    bind(place, text);
  }
  bool step() {
    const int code = sqlite3_step(statement_);
    if (code != SQLITE_ROW && code != SQLITE_DONE) check(code);
    return code == SQLITE_ROW;
  }
  /// Valid until the next step.
  std::string_view text(int column) const {
    // A blob needs no copy for a final NUL.
    const auto* text = static_cast<const char*>(sqlite3_column_blob(statement_, column));
    return {text, text ? static_cast<std::size_t>(sqlite3_column_bytes(statement_, column)) : 0};
  }
  double number(int column, double otherwise) const {
    return sqlite3_column_type(statement_, column) == SQLITE_NULL
               ? otherwise
               : sqlite3_column_double(statement_, column);
  }
  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }

 private:
  void check(int code) const {
    if (code != SQLITE_OK) throw SQLite::Exception(database_, code);
  }

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace autotune::db
