// SPDX-License-Identifier: Apache-2.0
#include "db/schema.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/connection.hpp"
#include "db/store.hpp"
#include "db/tables.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::db {
namespace {

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
/// a column that was added stands at another place: `CREATE TABLE kernel: id TEXT PRIMARY KEY`.
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

/// Of this version, and of SQLite's ANALYZE.
std::set<std::string> known_definitions() {
  SQLite::Database current(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  create_schema(current);
  std::vector<std::string> all(std::begin(kAnalyzeTables), std::end(kAnalyzeTables));
  SQLite::Statement query(current, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (query.executeStep()) all.push_back(query.getColumn(0).getString());
  std::set<std::string> known;
  for (const std::string& sql : all)
    std::ranges::move(definitions_of(sql), std::inserter(known, known.end()));
  return known;
}

}  // namespace

void create_schema(SQLite::Database& database) {
  database.exec(kSchema);
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

}  // namespace autotune::db
