// SPDX-License-Identifier: Apache-2.0
#include "db/schema.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "db/tables.hpp"
#include "tuner/file/replace_file.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::db {
namespace {

bool equal_content(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::ifstream first(one, std::ios::binary), second(other, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return std::equal(Bytes(first), Bytes(), Bytes(second), Bytes());
}

/// Single blanks for other space, and names without quotes: ALTER TABLE adds both.
std::string one_line(std::string_view sql) {
  std::string line;
  bool in_text = false;
  for (const char letter : sql) {
    if (letter == '\'') in_text = !in_text;
    const bool is_space = std::isspace(static_cast<unsigned char>(letter)) != 0;
    if (in_text || (!is_space && letter != '"')) {
      line += letter;
    } else if (is_space && !line.ends_with(' ')) {
      line += ' ';
    }
  }
  return line;
}

/// What a CREATE statement defines. Of a table, each column and constraint by itself, because
/// migrations add columns at other places: `CREATE TABLE kernel: id TEXT PRIMARY KEY`.
std::vector<std::string> definitions_of(std::string_view sql) {
  const std::string line = one_line(sql);
  const std::size_t open = line.find('('), close = line.rfind(')');
  if (!line.starts_with("CREATE TABLE ") || close == line.npos) return {line};
  const std::string head = line.substr(0, line.find_last_not_of(' ', open - 1) + 1);
  std::vector<std::string> all{head + line.substr(close + 1)};
  int depth = 0;
  bool begins = true;
  for (const char letter : std::string_view(line).substr(open + 1, close - open - 1)) {
    depth += (letter == '(') - (letter == ')');
    if (letter == ',' && depth == 0) {
      begins = true;
    } else if (!begins) {
      all.back() += letter;
    } else if (letter != ' ') {
      all.push_back(head + ": " + letter);
      begins = false;
    }
  }
  for (std::string& one : all) one.erase(one.find_last_not_of(' ') + 1);
  return all;
}

/// Of this version, of those before, and of SQLite's ANALYZE.
std::set<std::string> known_definitions() {
  SQLite::Database current(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  create_schema(current);
  std::vector<std::string> all(std::begin(kOlderDefinitions), std::end(kOlderDefinitions));
  SQLite::Statement query(current, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (query.executeStep()) all.push_back(query.getColumn(0).getString());
  std::set<std::string> known;
  for (const std::string& sql : all)
    std::ranges::move(definitions_of(sql), std::inserter(known, known.end()));
  return known;
}

/// Copies the committed content to `FILE.v1.backup`, or to `FILE.v1.backup.2` and so on if that
/// name is taken by other content. Call with the write lock held, so that nobody else does.
void back_up(const std::filesystem::path& path, int version) {
  const std::string name = format("{}.v{}.backup", path.string(), version);
  AsideFile aside(path);                   // with its permissions
  SQLite::Database reader(path.string());  // VACUUM is not possible inside a transaction
  SQLite::Statement copy(reader, "VACUUM INTO ?");
  copy.bind(1, aside.path().string());
  copy.exec();
  std::string backup = name;
  for (int i = 2; std::filesystem::exists(backup) && !equal_content(aside.path(), backup); ++i) {
    backup = format("{}.{}", name, i);
  }
  aside.rename_to(backup);
}

}  // namespace

void create_schema(SQLite::Database& database) {
  database.exec(kTables);
  database.exec(kTrialTable);
  database.exec(kDecisionTable);
  database.exec(kRetractionTable);
  database.exec(kCounterTable);
  database.exec(kBestIndex);
  database.exec(kAnswerIndexes);
  database.exec(kView);
  database.exec(format("INSERT INTO meta VALUES ('minimum_reader', '{}')", kMinimumReader));
  database.exec(format("PRAGMA user_version = {}", kSchemaVersion));
  // Last: a file with this id is complete.
  database.exec(format("PRAGMA application_id = {}", kApplicationId));
}

void expect_own_schema(SQLite::Database& database, const std::filesystem::path& path, int version) {
  static const std::set<std::string> kKnown = known_definitions();
  const auto is_known = [](const std::string& definition) { return kKnown.contains(definition); };
  SQLite::Statement query(database,
                          "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL OR type "
                          "<> 'index'");
  while (query.executeStep()) {
    const std::string type = query.getColumn(0).getString(), name = query.getColumn(1).getString();
    const std::string sql = query.getColumn(2).getString();
    const bool is_plain =
        type == "index" || name == "tuned" || (type == "table" && sql.starts_with("CREATE TABLE "));
    const bool is_own = version > kSchemaVersion
                            ? is_plain && type != "trigger"
                            : std::ranges::all_of(definitions_of(sql), is_known);
    if (is_own) continue;
    throw StoreError(
        format("{}: no version of autotune made its {} \"{}\", which may do harm; drop it, or name "
               "another file",
               path.string(), printable(type), printable(name)));
  }
}

void migrate(SQLite::Database& database, const std::filesystem::path& path, int version, int to,
             std::span<const Migration> steps) {
  for (;;) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Another process may have done this step, and made the copy.
    const int now = database.execAndGet("PRAGMA user_version").getInt();
    if (now >= to) return;
    const auto step = std::ranges::find(steps, now, &Migration::from);
    if (step == steps.end()) {
      throw StoreError(
          format("{}: has schema version {}, which this autotune cannot bring up to "
                 "{}; export it with the version that wrote it and import that",
                 path.string(), now, to));
    }
    if (now == version) back_up(path, version);
    database.exec(step->sql);
    database.exec(format("PRAGMA user_version = {}", now + 1));
    transaction.commit();
  }
}

std::span<const Migration> migrations() {
  static const std::string kBaselines = R"sql(
ALTER TABLE decision ADD COLUMN baseline TEXT NOT NULL DEFAULT '';
ALTER TABLE decision ADD COLUMN baseline_candidate TEXT NOT NULL DEFAULT '';
ALTER TABLE decision ADD COLUMN baseline_ns REAL;
ALTER TABLE decision ADD COLUMN baseline_low_ns REAL;
ALTER TABLE decision ADD COLUMN baseline_high_ns REAL;
ALTER TABLE decision ADD COLUMN baseline_wins INTEGER NOT NULL DEFAULT 0
  CHECK (baseline_wins IN (0, 1));
ALTER TABLE best ADD COLUMN baseline TEXT NOT NULL DEFAULT '';
ALTER TABLE best ADD COLUMN baseline_candidate TEXT NOT NULL DEFAULT '';
ALTER TABLE best ADD COLUMN baseline_ns REAL;
ALTER TABLE best ADD COLUMN baseline_low_ns REAL;
ALTER TABLE best ADD COLUMN baseline_high_ns REAL;
ALTER TABLE best ADD COLUMN baseline_wins INTEGER NOT NULL DEFAULT 0
  CHECK (baseline_wins IN (0, 1));
UPDATE meta SET value = '2' WHERE name = 'minimum_reader';
DROP VIEW tuned;
)sql" + std::string(kView);
  // SQLite cannot change a CHECK, so the table is made anew.
  static const std::string kAudits = std::string(R"sql(
ALTER TABLE trial RENAME TO old_trial;
DROP INDEX trial_problem;
DROP INDEX trial_default;
)sql") + kTrialTable + R"sql(
INSERT INTO trial SELECT * FROM old_trial;
DROP TABLE old_trial;
)sql";
  static const std::string kRetractions = std::string(R"sql(
ALTER TABLE session ADD COLUMN partial INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1));
ALTER TABLE best ADD COLUMN settings TEXT NOT NULL DEFAULT '';
ALTER TABLE best ADD COLUMN row_hash INTEGER NOT NULL DEFAULT 0;
INSERT INTO meta VALUES ('best_is_stale', '1');
)sql") + kRetractionTable + kBestIndex;
  static constexpr const char* kSpaces =
      "ALTER TABLE session ADD COLUMN space TEXT NOT NULL DEFAULT ''";
  static constexpr const char* kEnergies = R"sql(
ALTER TABLE decision ADD COLUMN joules REAL;
ALTER TABLE decision ADD COLUMN default_joules REAL;
ALTER TABLE best ADD COLUMN joules REAL;
ALTER TABLE best ADD COLUMN default_joules REAL;
)sql";
  static const std::string kFirstUses = std::string(R"sql(
ALTER TABLE decision RENAME TO old_decision;
DROP INDEX decision_problem;
)sql") + kDecisionTable + R"sql(
INSERT INTO decision SELECT *, NULL FROM old_decision;
DROP TABLE old_decision;
)sql";
  // The table has the column already if the step before made it.
  static const std::string kRepeats = [] {
    std::string columns = column_list<DecisionRow>();
    columns.resize(columns.rfind(", repeats"));
    return std::string(R"sql(
ALTER TABLE decision RENAME TO old_decision;
DROP INDEX decision_problem;
)sql") + kDecisionTable +
           format("INSERT INTO decision ({}) SELECT {} FROM old_decision;\n", columns, columns) +
           R"sql(
DROP TABLE old_decision;
ALTER TABLE best ADD COLUMN repeats INTEGER CHECK (repeats IN (0, 1));
INSERT OR IGNORE INTO meta VALUES ('best_is_stale', '1');
)sql" + kAnswerIndexes;
  }();
  static const Migration kSteps[] = {{1, kBaselines.c_str()},
                                     {2, kAudits.c_str()},
                                     {3, kRetractions.c_str()},
                                     {4, kSpaces},
                                     {5, kEnergies},
                                     {6, kFirstUses.c_str()},
                                     {7, kCounterTable},
                                     {8, kRepeats.c_str()}};
  return kSteps;
}

}  // namespace autotune::db
