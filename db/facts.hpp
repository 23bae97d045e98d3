// SPDX-License-Identifier: Apache-2.0
// Usable facts: they match their id, can be read, and are not retracted. Included by db/*.cpp only.
#pragma once

#include <chrono>
#include <string>

#include "db/connection.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {

/// UTC, `2026-03-01T12:00:00.000000Z`; sorts by time.
std::string time_text(std::chrono::system_clock::time_point time);

inline constexpr const char* kAndKey =
    " AND device = ? AND kernel = ? AND problem = ? AND policy = ?";

inline const std::string kNotAsStored = "it is not what was stored";

/// The text in quotes, shortened; any bytes are allowed.
std::string excerpt(std::string_view text);

/// Whether the text is `NAME=VALUE NAME=VALUE …` and printable. The empty text is.
bool is_named_values(std::string_view text);

/// What is wrong with this column's text: `the configuration "banana" is not of the form …`.
std::optional<std::string> fault_of_text(std::string_view column, std::string_view text);

/// The same for a time of day: it is more than a day ahead of this machine's clock.
std::optional<std::string> fault_of_date(std::string_view column, std::string_view text);

/// A later time of day is ahead of this machine's clock, by more than clocks of machines differ.
std::string latest_time();

/// The result of `fault` for the first of the row's texts that has one.
template <class Row, class Fault>
std::optional<std::string> fault_of_texts(const Row& row, Fault&& fault) {
  std::optional<std::string> found;
  Table<Row>::columns(row, [&](const char* name, const auto& value) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      if (!found) found = fault(name, value);
    }
  });
  return found;
}

/// Why no reader can use the row's texts.
template <class Row>
std::optional<std::string> malformed(const Row& row) {
  return fault_of_texts(row, fault_of_text);
}

/// Why the row cannot be stored: malformed, or dated ahead.
template <class Row>
std::optional<std::string> unacceptable(const Row& row) {
  if (auto fault = malformed(row)) return fault;
  return fault_of_texts(row, fault_of_date);
}

/// The row as it is stored. Throws StoreError if it is unacceptable().
template <class Row>
Row acceptable(const Connection& connection, const Row& row) {
  Row clean = cleaned(row);
  if (const auto fault = unacceptable(clean)) {
    throw StoreError(
        format("{}: a {} is not stored: {}", connection.path.string(), Table<Row>::name, *fault));
  }
  return clean;
}

/// Whether the fact matches its id.
template <class Row>
bool is_whole(const Row& row) {
  return row_id(to_json(row)) == row.id;
}

/// `NOT EXISTS (…)`: the fact, its session, its device and its kernel are not retracted.
template <class Row>
std::string live_sql() {
  const std::string table = std::string(Table<Row>::name) + '.';
  std::string ids = table + "id";
  const Row row{};
  Table<Row>::columns(row, [&](std::string_view name, const auto&) {
    const bool refers = name == "session" || name == "device" || name == "kernel";
    if (refers) ids += ", " + table + std::string(name);
  });
  return "NOT EXISTS (SELECT 1 FROM retraction WHERE fact IN (" + ids + "))";
}

/// Whether a retraction names this fact.
bool is_retracted(Connection& connection, const std::string& id);

/// Whether a stored fact, and everything that it refers to, is not retracted.
template <class Fact>
bool is_live(Connection& connection, const Fact& fact) {
  static const std::string kSql =
      "SELECT 1 FROM " + std::string(Table<Fact>::name) + " WHERE id = ? AND " + live_sql<Fact>();
  Query query = connection.query(kSql);
  return query.bind(fact.id).step();
}

/// Calls `use` with each usable fact for which `condition` holds. Unusable facts are named in
/// Connection::left_out, unless they are retracted.
template <class Row, class Use, class... Bound>
void each_usable(Connection& connection, const std::string& condition, Use&& use,
                 const Bound&... bound) {
  static const std::string kSql = select_sql<Row>(" WHERE " + live_sql<Row>());
  Query query = connection.query(kSql + condition);
  query.bind(bound...);
  while (query.step()) {
    Row row = read_row<Row>(query);
    if (!is_whole(row)) {
      connection.leave_out(Table<Row>::name, row.id, kNotAsStored);
    } else if (const auto fault = malformed(row)) {
      connection.leave_out(Table<Row>::name, row.id, *fault);
    } else {
      use(std::move(row));
    }
  }
}

/// Removes the record of a configuration that was sent to a device, given it or its trial.
template <class Row>
void clear_inflight(Connection& connection, const Row& row) {
  connection
      .query(std::string("DELETE FROM inflight") + kOfKey +
             " AND session = ? AND configuration = ?")
      .bind(row.key, row.session, row.configuration)
      .run();
}

}  // namespace autotune::db
