// SPDX-License-Identifier: Apache-2.0
// An open file, its prepared statements, and the reading and writing of rows. Included by db/*.cpp
// only.
#pragma once

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "db/json.hpp"
#include "db/store.hpp"

namespace autotune::db {

/// A cached statement in use. The destructor resets it, which releases its locks.
class Query {
 public:
  explicit Query(SQLite::Statement& statement) : statement_(statement) {}
  ~Query() { statement_.tryReset(); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  template <class... Values>
  Query& bind(const Values&... values) {
    (bind_one(values), ...);
    return *this;
  }
  bool step() { return statement_.executeStep(); }
  /// Starts again at the first row, with values that are bound anew.
  Query& restart() {
    statement_.reset();
    bound_ = 0;
    return *this;
  }
  void run() {
    while (step()) {
    }
  }

  void read(int column, std::string& out) { out = statement_.getColumn(column).getString(); }
  void read(int column, std::int64_t& out) { out = statement_.getColumn(column).getInt64(); }
  void read(int column, bool& out) { out = statement_.getColumn(column).getInt() != 0; }
  void read(int column, double& out) { out = statement_.getColumn(column).getDouble(); }
  template <class Number>
  void read(int column, std::optional<Number>& out) {
    out.reset();
    if (!statement_.getColumn(column).isNull()) read(column, out.emplace());
  }
  std::string text(int column) { return statement_.getColumn(column).getString(); }
  std::int64_t integer(int column) { return statement_.getColumn(column).getInt64(); }
  double number(int column, double otherwise) {
    const SQLite::Column value = statement_.getColumn(column);
    return value.isNull() ? otherwise : value.getDouble();
  }
  /// The text without a copy, for loops over many rows. Valid until the next step.
  std::string_view view(int column) {
    const SQLite::Column value = statement_.getColumn(column);
    const auto* text = static_cast<const char*>(value.getBlob());
    return {text, text ? static_cast<std::size_t>(value.getBytes()) : 0};
  }

 private:
  void bind_one(const std::string& value) { statement_.bind(++bound_, value); }
  void bind_one(std::string_view value) { statement_.bind(++bound_, std::string(value)); }
  void bind_one(std::int64_t value) { statement_.bind(++bound_, value); }
  void bind_one(bool value) { statement_.bind(++bound_, static_cast<std::int32_t>(value)); }
  void bind_one(double value) { statement_.bind(++bound_, value); }
  void bind_one(const ProblemKey& key) { bind(key.device, key.kernel, key.problem, key.policy); }
  template <class Number>
  void bind_one(const std::optional<Number>& value) {
    if (value) {
      bind_one(*value);
    } else {
      statement_.bind(++bound_);
    }
  }

  SQLite::Statement& statement_;
  int bound_ = 0;
};

inline constexpr const char* kOfKey =
    " WHERE device = ? AND kernel = ? AND problem = ? AND policy = ?";

template <class Row>
concept HasId = requires(Row row) {
  row.id;
};

/// `id, name, kind, …`, or with a prefix `device.id, device.name, …`.
template <class Row>
std::string column_list(const std::string& prefix = "") {
  std::string list;
  if constexpr (HasId<Row>) list = prefix + "id";
  const Row row{};
  Table<Row>::columns(row, [&](const char* name, const auto&) {
    if (!list.empty()) list += ", ";
    list += prefix + name;
  });
  return list;
}

template <class Row>
int column_count() {
  int count = HasId<Row> ? 1 : 0;
  const Row row{};
  Table<Row>::columns(row, [&](const char*, const auto&) { ++count; });
  return count;
}

/// The row whose columns start at `column`.
template <class Row>
Row read_row(Query& query, int column = 0) {
  Row row;
  if constexpr (HasId<Row>) query.read(column++, row.id);
  Table<Row>::columns(row, [&](const char*, auto& value) { query.read(column++, value); });
  return row;
}

/// `SELECT all columns FROM its table` + `rest`.
template <class Row>
std::string select_sql(const std::string& rest = "") {
  return "SELECT " + column_list<Row>() + " FROM " + Table<Row>::name + rest;
}

/// The row as it is stored. Text is valid UTF-8 without NUL, numbers are finite, and the id is the
/// hash of the rest.
std::string clean_text(std::string_view text);
double clean_number(double number);
std::string row_id(std::string_view json);

template <class Row>
Row cleaned(Row row) {
  const auto clean = [](const char*, auto& value) {
    using Type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Type, std::string>) {
      value = clean_text(value);
    } else if constexpr (std::is_same_v<Type, double>) {
      value = clean_number(value);
    } else if constexpr (std::is_same_v<Type, std::optional<double>>) {
      if (value && !(*value - *value == 0)) value.reset();  // infinite or not a number
      if (value) *value = clean_number(*value);
    }
  };
  Table<Row>::columns(row, clean);
  if constexpr (HasId<Row>) row.id = row_id(to_json(row));
  return row;
}

/// What a connection does when it does not get a lock.
struct LockWait {
  WaitUntil until;
  std::chrono::steady_clock::time_point started = {};  // the wait for the current lock
  bool refused = false;  // the file system has no locks, so waiting does not help
};

struct TunedStore::Connection {
  Connection(std::filesystem::path file, Mode how, SQLite::Database opened,
             std::shared_ptr<LockWait> waiting = nullptr)
      : path(std::move(file)),
        mode(how),
        lock_wait(std::move(waiting)),
        database(std::move(opened)) {}

  Query query(const std::string& sql) {
    auto found = statements.find(sql);
    if (found == statements.end()) {
      found = statements.emplace(sql, SQLite::Statement(database, sql)).first;
    }
    return Query(found->second);
  }

  /// Stores a row from cleaned() unless it exists. True if it is new.
  template <class Row>
  bool insert(const Row& row) {
    run_insert(row, "INSERT INTO ", " ON CONFLICT DO NOTHING");
    return database.getChanges() > 0;
  }
  /// Stores a row and replaces the one with the same key.
  template <class Row>
  void replace(const Row& row) {
    run_insert(row, "INSERT OR REPLACE INTO ", "");
  }

  /// Notes a row that a reader cannot use.
  void leave_out(const std::string& table, const std::string& id, const std::string& why);

  std::filesystem::path path;
  Mode mode;
  std::shared_ptr<LockWait> lock_wait;  // the database uses it; null in memory
  SQLite::Database database;
  std::unordered_map<std::string, SQLite::Statement> statements;
  std::set<std::string> left_out;  // TunedStore::left_out()
  std::string warning;             // TunedStore::warning()
  std::function<std::string(const TunedEntry&)> complaint;

 private:
  template <class Row>
  void run_insert(const Row& row, const std::string& head, const std::string& tail) {
    static const std::string kMiddle = [] {
      std::string marks = "?";
      for (int i = 1; i < column_count<Row>(); ++i) marks += ", ?";
      return std::string(Table<Row>::name) + " (" + column_list<Row>() + ") VALUES (" + marks + ")";
    }();
    Query statement = query(head + kMiddle + tail);
    if constexpr (HasId<Row>) statement.bind(row.id);
    Table<Row>::columns(row, [&](const char*, const auto& value) { statement.bind(value); });
    statement.run();
  }
};

using Connection = TunedStore::Connection;

/// SQLite's error as one sentence.
StoreError store_error(const std::filesystem::path& path, const SQLite::Exception& error);

/// The same of a file that is not what SQLite or autotune wrote.
StoreError damaged(const std::filesystem::path& path, const std::string& why = "");

/// Runs `work` and turns SQLite's exceptions into StoreError.
template <class Work>
auto guarded(const std::filesystem::path& path, Work&& work) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw store_error(path, error);
  }
}

/// Runs `work` in one BEGIN IMMEDIATE … COMMIT.
template <class Work>
auto in_transaction(Connection& connection, Work&& work) {
  return guarded(connection.path, [&] {
    SQLite::Transaction transaction(connection.database, SQLite::TransactionBehavior::IMMEDIATE);
    if constexpr (std::is_void_v<decltype(work())>) {
      work();
      transaction.commit();
    } else {
      auto result = work();
      transaction.commit();
      return result;
    }
  });
}

/// The database in memory, as of now. Throws SQLite::Exception.
SQLite::Database copy_of(SQLite::Database& database);

/// Opens or creates; throws StoreError.
std::unique_ptr<Connection> open_connection(const std::filesystem::path& path, Mode mode,
                                            WaitUntil wait_until);

// The tables, and what a file must have to be one of ours.

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
