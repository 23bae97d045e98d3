// SPDX-License-Identifier: Apache-2.0
#include "db/exchange_part.hpp"

#include <ostream>
#include <set>
#include <string>

#include "db/facts.hpp"
#include "db/refutations.hpp"

namespace autotune::db {
namespace {

template <class Row>
std::int64_t last_of(Connection& connection) {
  Query query =
      connection.query(std::string("SELECT ifnull(max(rowid), 0) FROM ") + Table<Row>::name);
  query.step();
  return query.integer(0);
}

template <class Row>
void write_after(Connection& connection, std::int64_t& end, std::ostream& out) {
  const std::int64_t last = last_of<Row>(connection);
  Query query = connection.query(select_sql<Row>(" WHERE rowid > ? ORDER BY rowid"));
  query.bind(end);
  while (query.step()) {
    const Row row = read_row<Row>(query);
    const std::string line = to_json(row);
    if (row_id(line) == row.id) out << line << '\n';
  }
  end = last;
}

/// Collects facts about problems and writes each once.
class FactsOfProblems {
 public:
  explicit FactsOfProblems(Connection& connection) : connection_(connection) {}

  void add(const ProblemKey& key) {
    add_about<TrialRow>(key);
    each_usable<TrialRow>(
        connection_, kFailedThere, [&](const TrialRow& row) { add_row(row); }, key.device,
        key.kernel, key.problem);
    add_about<DecisionRow>(key);
    add_about<PinRow>(key);
    ids_.insert({key.device, key.kernel});
    each_usable<CalibrationRow>(
        connection_, " AND device = ?", [&](const CalibrationRow& row) { add_row(row); },
        key.device);
  }

  void write(std::ostream& out) {
    for (const std::string& id : ids_) add_referred(id);
    for (const std::string& line : lines_) out << line << '\n';
  }

 private:
  template <class Row>
  void add_about(const ProblemKey& key) {
    each_usable<Row>(
        connection_, kAndKey, [&](const Row& row) { add_row(row); }, key);
  }

  template <class Row>
  void add_row(const Row& row) {
    lines_.insert(to_json(row));
    if constexpr (requires { row.session; }) ids_.insert(row.session);
  }

  /// Ids of different tables do not collide: each is a hash.
  void add_referred(const std::string& id) {
    const auto add_of = [&]<class Row>() {
      each_usable<Row>(
          connection_, " AND id = ?", [&](const Row& row) { lines_.insert(to_json(row)); }, id);
    };
    add_of.template operator()<DeviceRow>();
    add_of.template operator()<KernelRow>();
    add_of.template operator()<SessionRow>();
  }

  Connection& connection_;
  std::set<std::string> lines_, ids_;
};

}  // namespace

FactsEnd facts_end(const TunedStore& store) {
  FactsEnd end;
  guarded(store.path(), [&] {
    each_fact_table([&]<class Row>() { end.push_back(last_of<Row>(store.connection())); });
  });
  return end;
}

void export_facts_after(const TunedStore& store, FactsEnd& end, std::ostream& out) {
  Connection& connection = store.connection();
  guarded(store.path(), [&] {
    SQLite::Transaction snapshot(connection.database);
    std::size_t table = 0;
    each_fact_table([&]<class Row>() { write_after<Row>(connection, end.at(table++), out); });
  });
}

void export_facts_of(const TunedStore& store, std::span<const ProblemKey> keys, std::ostream& out) {
  Connection& connection = store.connection();
  guarded(store.path(), [&] {
    SQLite::Transaction snapshot(connection.database);
    FactsOfProblems facts(connection);
    for (const ProblemKey& key : keys) facts.add(key);
    facts.write(out);
  });
}

}  // namespace autotune::db
