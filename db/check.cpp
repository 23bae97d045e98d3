// SPDX-License-Identifier: Apache-2.0
// Finds faults in a file: structure, references, rows, derived rows.
#include "db/best.hpp"
#include "db/connection.hpp"
#include "db/facts.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::db {
namespace {

void check_structure(Connection& connection, const std::string& pragma,
                     std::vector<std::string>& damage) {
  Query query = connection.query(pragma);
  while (query.step()) {
    if (query.text(0) != "ok") damage.push_back("structure: " + query.text(0));
  }
}

void check_references(Connection& connection, std::vector<std::string>& damage) {
  Query query = connection.query(R"(SELECT "table", rowid, parent FROM pragma_foreign_key_check)");
  while (query.step()) {
    damage.push_back(format("{} row {}: refers to a {} that is not there", query.text(0),
                            query.integer(1), query.text(2)));
  }
}

template <class Row>
std::int64_t check_rows(Connection& connection, std::vector<std::string>& damage) {
  std::int64_t count = 0;
  Query query = connection.query(select_sql<Row>());
  while (query.step()) {
    const Row row = read_row<Row>(query);
    ++count;
    std::optional<std::string> fault;
    if (!is_whole(row)) {
      fault = kNotAsStored;
    } else if (is_live(connection, row)) {
      fault = unacceptable(row);
      if constexpr (requires { row.key; }) {
        if (!fault) fault = fault_of_problem(connection, row.key);
      }
      if (fault) *fault += "; autotune db retract takes it out";
    }
    if (fault) damage.push_back(format("{} {}: {}", Table<Row>::name, printable(row.id), *fault));
  }
  return count;
}

void check_best(Connection& connection, std::vector<std::string>& damage) {
  std::int64_t expected = 0;
  for (const ProblemKey& key : all_keys(connection)) {
    const auto derived = derive(connection, key);
    expected += derived.has_value();
    if (derived != stored_best(connection, key)) {
      damage.push_back(format("best of {}: differs from what the trials say", key.problem));
    }
  }
  Query query = connection.query("SELECT count(*) FROM best");
  if (query.step() && query.integer(0) != expected) {
    damage.push_back("best: has rows of problems without trials");
  }
}

}  // namespace

void name_damage(Connection& connection) {
  std::vector<std::string> damage;
  check_structure(connection, "PRAGMA quick_check(20)", damage);
  for (const std::string& one : damage) {
    connection.left_out.insert(format("{}: {}", connection.path.string(), one));
  }
  each_fact_table([&]<class Row>() { each_usable<Row>(connection, "", [](Row&&) {}); });
}

CheckReport TunedStore::check() const {
  CheckReport report;
  // A part that cannot be read does not hide the others.
  const auto part = [&](const char* name, auto&& work) {
    try {
      work();
    } catch (const std::exception& error) {
      report.damage.push_back(format("{}: cannot be read: {}", name, error.what()));
    }
  };
  part("structure",
       [&] { check_structure(*connection_, "PRAGMA integrity_check(20)", report.damage); });
  part("schema", [&] { expect_whole_schema(connection_->database, connection_->path); });
  part("references", [&] { check_references(*connection_, report.damage); });
  each_fact_table([&]<class Row>() {
    part(Table<Row>::name, [&] { report.rows += check_rows<Row>(*connection_, report.damage); });
  });
  part("best", [&] { check_best(*connection_, report.damage); });
  return report;
}

}  // namespace autotune::db
