// SPDX-License-Identifier: Apache-2.0
#include "db/exchange.hpp"

#include <sqlite3.h>

#include <istream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/best.hpp"
#include "db/facts.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

/// A fact about a problem.
template <class Row>
concept HasKey = requires(Row row) {
  row.key;
};

/// Of a row about a problem, as it reads now. Returns false where it is none of today's.
template <class Row>
bool renew(Row& row, KernelRow& kernel, NewNames& names) {
  const KernelRow old = kernel;
  std::string problem = row.key.problem, configuration = row.configuration;
  if (!names.renew(kernel, problem, configuration)) return false;
  const auto renew_other = [&](std::string& text) {
    KernelRow same = old;
    std::string there = row.key.problem;
    names.renew(same, there, text);
  };
  if constexpr (requires { row.ties; }) {
    renew_other(row.default_configuration);
    std::istringstream ties(std::exchange(row.ties, ""));
    for (std::string tie; std::getline(ties, tie);) {
      renew_other(tie);
      row.ties += (row.ties.empty() ? "" : "\n") + tie;
    }
  }
  row.key.problem = std::move(problem);
  row.configuration = std::move(configuration);
  return true;
}

/// Stores facts one by one. Lists those that fail and keeps the others.
class Importer {
 public:
  Importer(Connection& connection, NewNames* names) : connection_(connection), names_(names) {}

  /// The next facts may be about this kernel. Returns whether they read otherwise now.
  bool expect(const KernelRow& kernel) {
    const bool is_old = names_ && names_->concern(kernel);
    if (is_old) old_kernels_.emplace(kernel.id, kernel);
    return is_old;
  }

  template <class Row>
  void add(const Row& row, const std::string& where) {
    const Row clean = cleaned(row);
    if (!row.id.empty() && clean.id != row.id) {
      return refuse(where, "is damaged: its content does not match its id");
    }
    if constexpr (std::is_same_v<Row, KernelRow>) {
      if (expect(clean)) return;
    } else if constexpr (HasKey<Row>) {
      const auto old = old_kernels_.find(clean.key.kernel);
      if (old != old_kernels_.end()) {
        if (add_renewed(clean, where)) return;
        store_kernel(old->second, where);
      }
    }
    store(clean, where);
  }

  /// Adds a fact about a kernel that reads otherwise now. Returns false, and does not add the fact,
  /// where it is none of today's.
  template <class Row>
  bool add_renewed(Row row, const std::string& where) {
    const std::string id = row.id, old_kernel = row.key.kernel;
    KernelRow kernel = old_kernels_.at(old_kernel);
    if (!renew(row, kernel, *names_)) return false;
    kernel = cleaned(kernel);
    store_kernel(kernel, where);
    row.key.kernel = kernel.id;
    row = cleaned(row);
    if (row.id == id || !store(row, where)) return false;
    ++report_.renewed;
    retract_as(id, old_kernel, row.id);
    return true;
  }

  /// Notes that nothing may be known of this problem any more.
  void touch(const ProblemKey& key) { touched_.insert(key); }

  void refuse(const std::string& where, const std::string& why) {
    report_.refused.push_back(where + ": " + why);
  }

  /// Replaces the complaints about single lines.
  void refuse_file(const std::string& name, const std::string& why) {
    report_.refused.clear();
    refuse(name, why);
  }

  /// Derives the best rows last, when all rows that facts refer to are there.
  ImportReport finish() {
    for (const std::string& fact : retracted_) {
      for (ProblemKey& key : keys_of_fact(connection_, fact)) touched_.insert(std::move(key));
    }
    for (const ProblemKey& key : failed_) {
      for (ProblemKey& one : keys_beside(connection_, key)) touched_.insert(std::move(one));
    }
    for (const ProblemKey& key : touched_) derive_again(connection_, key);
    return std::move(report_);
  }

 private:
  void store_kernel(const KernelRow& kernel, const std::string& where) {
    if (stored_kernels_.insert(kernel.id).second) store(kernel, where);
  }

  /// Returns whether the row is there now.
  template <class Row>
  bool store(const Row& clean, const std::string& where) {
    if (const auto fault = fault_of(clean)) {
      if (!is_retracted(connection_, clean.id)) refuse(where, *fault);
      return false;
    }
    try {
      const bool is_new = connection_.insert(clean);
      ++(is_new ? report_.added : report_.present);
      if (is_new) note(clean);
      return true;
    } catch (const SQLite::Exception& error) {
      const bool refused = (error.getErrorCode() & 0xFF) == SQLITE_CONSTRAINT;
      if (!refused) throw store_error(connection_.path, error);
      const bool missing = error.getExtendedErrorCode() == SQLITE_CONSTRAINT_FOREIGNKEY;
      refuse(where, missing ? "refers to a row that is missing" : "is not a valid row");
      return false;
    }
  }

  /// Whoever retracted the fact that was called `id`, or all of its kernel, meant this fact.
  /// Retractions are stored before other facts.
  void retract_as(const std::string& id, const std::string& kernel, const std::string& now) {
    std::vector<RetractionRow> retractions;
    each_usable<RetractionRow>(
        connection_, " AND fact IN (?, ?)",
        [&](RetractionRow&& row) { retractions.push_back(std::move(row)); }, id, kernel);
    for (RetractionRow& retraction : retractions) {
      retraction.fact = now;
      store(cleaned(retraction), "retraction");
    }
  }

  template <class Row>
  std::optional<std::string> fault_of(const Row& row) const {
    std::optional<std::string> fault = unacceptable(row);
    if constexpr (HasKey<Row>) {
      if (!fault) fault = fault_of_problem(connection_, row.key);
    }
    return fault;
  }

  void note(const RetractionRow& retraction) { retracted_.push_back(retraction.fact); }
  template <class Row>
  void note(const Row& row) {
    if constexpr (HasKey<Row>) touched_.insert(row.key);
    if constexpr (std::is_same_v<Row, TrialRow>) {
      if (is_failure(row)) failed_.insert(row.key);
    }
  }

  Connection& connection_;
  NewNames* const names_;
  std::map<std::string, KernelRow> old_kernels_;  // by id
  std::set<std::string> stored_kernels_;          // which renewed facts are about
  ImportReport report_;
  std::set<ProblemKey> touched_;        // problems with new facts
  std::set<ProblemKey> failed_;         // those with new failures, which refute under every policy
  std::vector<std::string> retracted_;  // facts, which may be here
};

/// Reads the value if it is of this type; else returns false.
bool read_value(const Json& value, std::string& out) {
  if (value.is_string()) out = value.get_ref<const std::string&>();
  return value.is_string();
}

bool read_value(const Json& value, std::int64_t& out) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<std::int64_t>(value.get<std::uint64_t>())
                        : value.is_number_integer();
  if (fits) out = value.get<std::int64_t>();
  return fits;
}

bool read_value(const Json& value, double& out) {
  if (value.is_number()) out = value.get<double>();
  return value.is_number();
}

bool read_value(const Json& value, bool& out) {
  if (value.is_boolean()) out = value.get<bool>();
  return value.is_boolean();
}

template <class Number>
bool read_value(const Json& value, std::optional<Number>& out) {
  return value.is_null() || read_value(value, out.emplace());
}

/// Reads the output of to_json(). Missing columns keep their default. Returns the name of a column
/// with a value of the wrong type, or nullptr.
template <class Row>
const char* read_object(const Json& object, Row& row) {
  const char* bad = nullptr;
  Table<Row>::columns(row, [&](const char* name, auto& value) {
    const auto found = object.find(name);
    if (found != object.end() && !read_value(*found, value)) bad = name;
  });
  return bad;
}

bool is_fact_table(const std::string& table) {
  bool is = false;
  each_fact_table([&]<class Row>() { is = is || table == Table<Row>::name; });
  return is;
}

struct Line {
  std::int64_t number = 0;
  std::string table;
  Json object;
};

/// The text of `[json.exception…] parse error at line 1, column 34: …` from "column" on, if it has
/// one.
std::string from_column(std::string_view what) {
  const std::size_t column = what.find("column");
  return std::string(what.substr(column == what.npos ? what.find(' ') + 1 : column));
}

/// Our rows have a few kilobytes. A file without line ends must not fill the memory.
constexpr std::size_t kLongestLine = std::size_t{16} << 20;

/// Like std::getline(), but reads at most one character beyond the longest line.
bool next_line(std::istream& in, std::string& line) {
  line.clear();
  std::streambuf& letters = *in.rdbuf();
  int letter = letters.sbumpc();
  if (letter == EOF) return false;
  for (; letter != EOF && letter != '\n'; letter = letters.sbumpc()) {
    line += static_cast<char>(letter);
    if (line.size() > kLongestLine) return true;
  }
  return true;
}

std::vector<Line> read_lines(std::istream& in, const std::string& name, Importer& importer) {
  std::vector<Line> lines;
  std::string text, first;
  for (std::int64_t number = 1; next_line(in, text); ++number) {
    if (text.size() > kLongestLine) {
      importer.refuse_file(name,
                           format("line {} has more than {}", number, bytes_text(kLongestLine)));
      return {};
    }
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    if (first.empty()) first = text;
    const auto refuse = [&](const std::string& why) {
      importer.refuse(format("{} line {}", name, number), why);
    };
    try {
      Line line{number, "", Json::parse(text)};
      const auto table = line.object.find("table");
      if (table == line.object.end() || !read_value(*table, line.table)) {
        refuse("is not an object with the name of a table");
      } else if (!is_fact_table(line.table)) {
        refuse(format("there is no table \"{}\"", line.table));
      } else {
        lines.push_back(std::move(line));
      }
    } catch (const Json::exception& error) {
      refuse(from_column(error.what()));
    }
  }
  if (lines.empty() && !first.empty()) {
    importer.refuse_file(name,
                         "is not an export of a database: its first line is " + excerpt(first));
  }
  return lines;
}

/// The constraint that a fact must meet at once: SQLite reports a foreign key only at the end of
/// a statement, so rows are added table by table, those referred to first.
template <class Row>
void add_lines(const std::vector<Line>& lines, const std::string& name, Importer& importer) {
  for (const Line& line : lines) {
    if (line.table != Table<Row>::name) continue;
    const std::string where = format("{} line {}", name, line.number);
    Row row;
    if (const char* bad = read_object(line.object, row)) {
      importer.refuse(where, format("the value of {} is of the wrong type", bad));
    } else {
      importer.add(row, where);
    }
  }
}

/// Unchecked, and retracted ones too.
template <class Row>
std::vector<Row> rows_where(Connection& connection, const std::string& condition,
                            const auto&... bound) {
  std::vector<Row> rows;
  Query query = connection.query(select_sql<Row>(condition));
  query.bind(bound...);
  while (query.step()) rows.push_back(read_row<Row>(query));
  return rows;
}

template <class Row>
void convert_facts(Connection& connection, const KernelRow& kernel, Importer& importer) {
  for (const Row& row : rows_where<Row>(connection, " WHERE kernel = ?", kernel.id)) {
    const std::string where = format("{} {}", Table<Row>::name, row.id);
    if (!is_whole(row)) {
      importer.refuse(where, kNotAsStored);
    } else if (!importer.add_renewed(row, where)) {
      importer.refuse(where, format("{} is no problem of today's target", row.key.problem));
    } else {
      connection.query(format("DELETE FROM {} WHERE id = ?", Table<Row>::name)).bind(row.id).run();
      importer.touch(row.key);
    }
  }
}

/// Removes a kernel that no row is about.
void remove_unused(Connection& connection, const KernelRow& kernel) {
  for (const char* const table :
       {"trial", "decision", "pin", "counter", "reduction_class", "best"}) {
    Query query = connection.query(format("SELECT 1 FROM {} WHERE kernel = ? LIMIT 1", table));
    if (query.bind(kernel.id).step()) return;
  }
  connection.query("DELETE FROM kernel WHERE id = ?").bind(kernel.id).run();
}

}  // namespace

ImportReport import_json_lines(TunedStore& store, std::istream& in, const std::string& name,
                               NewNames* names) {
  Connection& connection = store.connection();
  return in_transaction(connection, [&] {
    Importer importer(connection, names);
    const std::vector<Line> lines = read_lines(in, name, importer);
    each_fact_table([&]<class Row>() { add_lines<Row>(lines, name, importer); });
    return importer.finish();
  });
}

ImportReport merge(TunedStore& store, const TunedStore& other, NewNames* names) {
  // Of one moment: a fact and what it refers to may be stored at any time. Its writers go on.
  Connection snapshot(other.path(), Mode::read_only,
                      guarded(other.path(), [&] { return copy_of(other.connection().database); }));
  return in_transaction(store.connection(), [&] {
    Importer importer(store.connection(), names);
    each_fact_table([&]<class Row>() {
      const std::string table = format("{}: {}", other.path().string(), Table<Row>::name);
      try {
        Query query = snapshot.query(select_sql<Row>());
        while (query.step()) {
          const Row row = read_row<Row>(query);
          importer.add(row, table + " " + row.id);
        }
      } catch (const SQLite::Exception& error) {  // rows read so far are good
        importer.refuse(table, format("cannot be read to its end: {}", error.what()));
      }
    });
    return importer.finish();
  });
}

ImportReport convert(TunedStore& store, NewNames& names) {
  Connection& connection = store.connection();
  return in_transaction(connection, [&] {
    connection.query("DELETE FROM inflight").run();
    Importer importer(connection, &names);
    std::vector<KernelRow> old = rows_where<KernelRow>(connection, "");
    std::erase_if(old,
                  [&](const KernelRow& row) { return !is_whole(row) || !importer.expect(row); });
    for (const KernelRow& kernel : old) {
      each_fact_table([&]<class Row>() {
        if constexpr (HasKey<Row>) convert_facts<Row>(connection, kernel, importer);
      });
    }
    ImportReport report = importer.finish();
    for (const KernelRow& kernel : old) remove_unused(connection, kernel);
    return report;
  });
}

}  // namespace autotune::db
