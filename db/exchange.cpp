// SPDX-License-Identifier: Apache-2.0
#include "db/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "db/facts.hpp"
#include "tuner/text/format.hpp"

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

namespace {

/// Appends the facts of a table in canonical order. Returns the number of damaged rows, which are
/// left out.
template <class Row>
std::int64_t read_table(Connection& connection, std::vector<std::string>& lines) {
  std::int64_t damaged = 0;
  const auto before = static_cast<std::ptrdiff_t>(lines.size());
  Query query = connection.query(select_sql<Row>());
  while (query.step()) {
    const Row row = read_row<Row>(query);
    std::string line = to_json(row);
    if (row_id(line) == row.id) {
      lines.push_back(std::move(line));
    } else {
      ++damaged;
    }
  }
  std::sort(lines.begin() + before, lines.end());
  return damaged;
}

void check_written(const std::ostream& out) {
  if (!out)
    throw StoreError("the export cannot be written: no space is left or the pipe is closed");
}

std::string cpp_string(std::string_view text) {
  std::string out;
  append_json(out, text);  // C++ escapes these texts like JSON
  return out;
}

}  // namespace

std::int64_t export_json_lines(const TunedStore& store, std::ostream& out) {
  Connection& connection = store.connection();
  std::int64_t damaged = 0;
  std::vector<std::string> lines;
  guarded(store.path(), [&] {
    SQLite::Transaction snapshot(connection.database);
    each_fact_table([&]<class Row>() { damaged += read_table<Row>(connection, lines); });
  });
  // Writers wait for the snapshot, so it does not wait for `out`, which may be a person's pager.
  for (const std::string& line : lines) out << line << '\n';
  check_written(out);
  return damaged;
}

void export_header(std::span<const TunedEntry> entries, std::ostream& out) {
  out << "// Tuned configurations, exported by `autotune db export --format=cpp`.\n"
         "#pragma once\n\n"
         "namespace autotune_tuned {\n\n"
         "struct Row {\n"
         "  const char* device;\n"
         "  const char* target;\n"
         "  const char* fingerprint;\n"
         "  const char* problem;\n"
         "  const char* policy;\n"
         "  const char* configuration;\n"
         "  double median_ns;   // 0 when it was never timed\n"
         "  double default_ns;  // 0 when it was never timed\n"
         "  const char* provenance;\n"
         "  const char* baseline;  // the vendor's library where that is faster; else empty\n"
         "  double baseline_ns;    // its time then, else 0\n"
         "};\n\n"
         "inline constexpr Row kRows[] = {\n";
  for (const TunedEntry& entry : entries) {
    const BestRow& best = entry.best;
    out << format("    {{{}, {}, {},\n     {}, {},\n     {},\n     {}, {}, {},\n     {}, {}}},\n",
                  cpp_string(entry.device.name), cpp_string(entry.kernel.target),
                  cpp_string(entry.kernel.fingerprint), cpp_string(best.key.problem),
                  cpp_string(best.key.policy), cpp_string(best.configuration),
                  best.median_ns.value_or(0), best.default_ns.value_or(0),
                  cpp_string(best.provenance),
                  cpp_string(best.baseline.wins ? best.baseline.text() : ""),
                  best.baseline.wins ? best.baseline.ns.value_or(0) : 0);
  }
  if (entries.empty()) out << "    {\"\", \"\", \"\", \"\", \"\", \"\", 0, 0, \"\", \"\", 0},\n";
  out << format("}};\ninline constexpr int kRowCount = {};\n\n}}  // namespace autotune_tuned\n",
                entries.size());
  check_written(out);
}

}  // namespace autotune::db
