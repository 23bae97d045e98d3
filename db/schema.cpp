// SPDX-License-Identifier: Apache-2.0
#include "db/connection.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::db {

const char* const kSchema = R"sql(
-- Facts: only ever added. An id is the hash of the rest of its row.
CREATE TABLE device (
  id                 TEXT PRIMARY KEY,
  name               TEXT NOT NULL,
  kind               TEXT NOT NULL CHECK (kind IN ('cuda', 'host', 'model', 'fake')),
  pci_id             TEXT NOT NULL,
  compute_capability INTEGER NOT NULL,
  multiprocessors    INTEGER NOT NULL,
  l2_bytes           INTEGER NOT NULL,
  memory_bytes       INTEGER NOT NULL,
  mig_profile        TEXT NOT NULL
) STRICT;

CREATE TABLE kernel (
  id          TEXT PRIMARY KEY,
  target      TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  sizes       TEXT NOT NULL
) STRICT;

CREATE TABLE session (
  id           TEXT PRIMARY KEY,
  started_at   TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  environment  TEXT NOT NULL,
  command      TEXT NOT NULL,
  strategy     TEXT NOT NULL,
  seed         INTEGER NOT NULL,
  budget       TEXT NOT NULL,
  partial      INTEGER NOT NULL DEFAULT 0 CHECK (partial IN (0, 1)),
  space        TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE pin (
  id            TEXT PRIMARY KEY,
  device        TEXT NOT NULL REFERENCES device(id),
  kernel        TEXT NOT NULL REFERENCES kernel(id),
  problem       TEXT NOT NULL,
  policy        TEXT NOT NULL,
  configuration TEXT NOT NULL,
  note          TEXT NOT NULL,
  created_at    TEXT NOT NULL
) STRICT;

CREATE TABLE calibration (
  id         TEXT PRIMARY KEY,
  device     TEXT NOT NULL REFERENCES device(id),
  name       TEXT NOT NULL,
  value      REAL NOT NULL,
  created_at TEXT NOT NULL
) STRICT;

CREATE TABLE trial (
  id              TEXT PRIMARY KEY,
  session         TEXT NOT NULL REFERENCES session(id),
  device          TEXT NOT NULL REFERENCES device(id),
  kernel          TEXT NOT NULL REFERENCES kernel(id),
  problem         TEXT NOT NULL,
  policy          TEXT NOT NULL,
  stage           TEXT NOT NULL CHECK (stage IN ('search', 'playoff', 'audit')),
  configuration   TEXT NOT NULL,
  outcome         TEXT NOT NULL CHECK (outcome IN ('ok', 'pruned', 'invalid', 'compile_error',
                    'launch_error', 'wrong', 'nondeterministic', 'timeout', 'crash')),
  message         TEXT NOT NULL,
  median_ns       REAL,
  low_ns          REAL,
  high_ns         REAL,
  samples         INTEGER NOT NULL,
  throttled       INTEGER NOT NULL CHECK (throttled IN (0, 1)),
  predicted_ns    REAL,
  registers       INTEGER,
  shared_bytes    INTEGER,
  local_bytes     INTEGER,
  occupancy       REAL,
  compile_seconds REAL NOT NULL,
  binary_key      TEXT NOT NULL,
  verified        INTEGER NOT NULL CHECK (verified IN (0, 1)),
  is_default      INTEGER NOT NULL CHECK (is_default IN (0, 1)),
  gflops          REAL,
  created_at      TEXT NOT NULL
) STRICT;
CREATE INDEX trial_problem ON trial(device, kernel, problem, policy);
CREATE INDEX trial_default ON trial(device, kernel, problem, policy, session) WHERE is_default;

CREATE TABLE decision (
  id                    TEXT PRIMARY KEY,
  session               TEXT NOT NULL REFERENCES session(id),
  device                TEXT NOT NULL REFERENCES device(id),
  kernel                TEXT NOT NULL REFERENCES kernel(id),
  problem               TEXT NOT NULL,
  policy                TEXT NOT NULL,
  provenance            TEXT NOT NULL CHECK (provenance IN
                          ('measured', 'in use', 'imported', 'first use',
                           'predicted')),
  configuration         TEXT NOT NULL,
  median_ns             REAL,
  low_ns                REAL,
  high_ns               REAL,
  samples               INTEGER NOT NULL,
  gflops                REAL,
  default_configuration TEXT NOT NULL,
  default_ns            REAL,
  noise_floor           REAL,
  cold_ns               REAL,
  ties                  TEXT NOT NULL,
  verified              INTEGER NOT NULL CHECK (verified IN (0, 1)),
  binary_key            TEXT NOT NULL,
  created_at            TEXT NOT NULL,
  baseline              TEXT NOT NULL DEFAULT '',
  baseline_candidate    TEXT NOT NULL DEFAULT '',
  baseline_ns           REAL,
  baseline_low_ns       REAL,
  baseline_high_ns      REAL,
  baseline_wins         INTEGER NOT NULL DEFAULT 0 CHECK (baseline_wins IN (0, 1)),
  joules                REAL,
  default_joules        REAL,
  repeats               INTEGER CHECK (repeats IN (0, 1))
) STRICT;
CREATE INDEX decision_problem ON decision(device, kernel, problem, policy);

CREATE TABLE retraction (
  id         TEXT PRIMARY KEY,
  fact       TEXT NOT NULL,
  reason     TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX retraction_fact ON retraction(fact);

CREATE TABLE counter (
  id            TEXT PRIMARY KEY,
  device        TEXT NOT NULL REFERENCES device(id),
  kernel        TEXT NOT NULL REFERENCES kernel(id),
  problem       TEXT NOT NULL,
  policy        TEXT NOT NULL,
  configuration TEXT NOT NULL,
  figures       TEXT NOT NULL,
  environment   TEXT NOT NULL,
  created_at    TEXT NOT NULL
) STRICT;
CREATE INDEX counter_problem ON counter(device, kernel, problem, policy);

CREATE TABLE reduction_class (
  id            TEXT PRIMARY KEY,
  device        TEXT NOT NULL REFERENCES device(id),
  kernel        TEXT NOT NULL REFERENCES kernel(id),
  problem       TEXT NOT NULL,
  policy        TEXT NOT NULL,
  configuration TEXT NOT NULL,
  binary_key    TEXT NOT NULL,
  bits          TEXT NOT NULL,
  created_at    TEXT NOT NULL
) STRICT;
CREATE INDEX reduction_class_problem ON reduction_class(device, kernel, problem, policy);

-- Derived from the facts; can be dropped and made again.
CREATE TABLE best (
  device                TEXT NOT NULL REFERENCES device(id),
  kernel                TEXT NOT NULL REFERENCES kernel(id),
  problem               TEXT NOT NULL,
  policy                TEXT NOT NULL,
  settings              TEXT NOT NULL DEFAULT '',
  provenance            TEXT NOT NULL,
  decided               INTEGER NOT NULL,
  session               TEXT NOT NULL,
  session_started_at    TEXT NOT NULL,
  configuration         TEXT NOT NULL,
  median_ns             REAL,
  low_ns                REAL,
  high_ns               REAL,
  samples               INTEGER NOT NULL,
  gflops                REAL,
  default_configuration TEXT NOT NULL,
  default_ns            REAL,
  noise_floor           REAL,
  cold_ns               REAL,
  ties                  TEXT NOT NULL,
  verified              INTEGER NOT NULL,
  binary_key            TEXT NOT NULL,
  created_at            TEXT NOT NULL,
  baseline              TEXT NOT NULL DEFAULT '',
  baseline_candidate    TEXT NOT NULL DEFAULT '',
  baseline_ns           REAL,
  baseline_low_ns       REAL,
  baseline_high_ns      REAL,
  baseline_wins         INTEGER NOT NULL DEFAULT 0 CHECK (baseline_wins IN (0, 1)),
  joules                REAL,
  default_joules        REAL,
  repeats               INTEGER CHECK (repeats IN (0, 1)),
  source                TEXT NOT NULL,
  crc                   INTEGER NOT NULL,
  row_hash              INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (device, kernel, problem, policy)
) STRICT, WITHOUT ROWID;

-- Of earlier versions: what was sent to a device and had no result yet.
CREATE TABLE inflight (
  session       TEXT NOT NULL REFERENCES session(id),
  device        TEXT NOT NULL REFERENCES device(id),
  kernel        TEXT NOT NULL REFERENCES kernel(id),
  problem       TEXT NOT NULL,
  policy        TEXT NOT NULL,
  configuration TEXT NOT NULL,
  process       TEXT NOT NULL,
  started_at    TEXT NOT NULL,
  PRIMARY KEY (session, device, kernel, problem, policy, configuration)
) STRICT;

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE INDEX best_settings ON best(device, kernel, policy, settings, problem);

CREATE INDEX trial_failed ON trial(device, kernel, problem, configuration, policy, created_at)
  WHERE outcome NOT IN ('ok', 'pruned');
CREATE INDEX pin_problem ON pin(device, kernel, problem, policy);

CREATE VIEW tuned AS
SELECT device.name AS gpu,
       kernel.target,
       best.problem,
       best.policy,
       best.configuration,
       round(best.median_ns / 1000, 3) AS time_us,
       round(best.gflops, 1) AS gflops,
       round(best.default_ns / best.median_ns, 3) AS ratio_to_default,
       best.baseline,
       round(best.baseline_ns / 1000, 3) AS baseline_us,
       best.baseline_wins,
       best.provenance,
       best.created_at AS date
FROM best JOIN device ON device.id = best.device JOIN kernel ON kernel.id = best.kernel
ORDER BY kernel.target, device.name, length(best.problem), best.problem, best.policy;
)sql";

const std::array<const char*, 2> kAnalyzeTables{
    "CREATE TABLE sqlite_stat1(tbl,idx,stat)",
    "CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)"};

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

std::set<std::string> tables_and_indices(SQLite::Database& database) {
  std::set<std::string> names;
  SQLite::Statement query(
      database, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'index') AND sql NOT NULL");
  while (query.executeStep()) names.insert(query.getColumn(0).getString());
  return names;
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

void expect_whole_schema(SQLite::Database& database, const std::filesystem::path& path) {
  static const std::set<std::string> kNeeded = [] {
    SQLite::Database current(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    create_schema(current);
    std::set<std::string> names = tables_and_indices(current);
    names.erase("meta");  // says what may write it, which is not asked here
    return names;
  }();
  const std::set<std::string> there = tables_and_indices(database);
  for (const std::string& name : kNeeded) {
    if (!there.contains(name)) throw damaged(path, format("it has no {}", name));
  }
}

}  // namespace autotune::db
