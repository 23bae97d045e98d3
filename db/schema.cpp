// SPDX-License-Identifier: Apache-2.0
#include "db/schema.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "db/store.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {
namespace {

constexpr const char* kTrialTable = R"sql(
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
)sql";

constexpr const char* kRetractionTable = R"sql(
CREATE TABLE retraction (
  id         TEXT PRIMARY KEY,
  fact       TEXT NOT NULL,
  reason     TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX retraction_fact ON retraction(fact);
)sql";

constexpr const char* kDecisionTable = R"sql(
CREATE TABLE decision (
  id                    TEXT PRIMARY KEY,
  session               TEXT NOT NULL REFERENCES session(id),
  device                TEXT NOT NULL REFERENCES device(id),
  kernel                TEXT NOT NULL REFERENCES kernel(id),
  problem               TEXT NOT NULL,
  policy                TEXT NOT NULL,
  provenance            TEXT NOT NULL CHECK (provenance IN
                          ('measured', 'imported', 'first use', 'predicted')),
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
  default_joules        REAL
) STRICT;
CREATE INDEX decision_problem ON decision(device, kernel, problem, policy);
)sql";

constexpr const char* kCounterTable = R"sql(
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
)sql";

/// Finds which settings there are, and holds all that looking for the nearest problem needs.
constexpr const char* kBestIndex = R"sql(
CREATE INDEX best_settings ON best(device, kernel, policy, settings, problem);
)sql";

constexpr const char* kTables = R"sql(
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
  source                TEXT NOT NULL,
  crc                   INTEGER NOT NULL,
  row_hash              INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (device, kernel, problem, policy)
) STRICT, WITHOUT ROWID;

-- Local to one host, never exported.
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
)sql";

constexpr const char* kView = R"sql(
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

bool equal_content(const std::filesystem::path& one, const std::filesystem::path& other) {
  std::ifstream first(one, std::ios::binary), second(other, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return std::equal(Bytes(first), Bytes(), Bytes(second), Bytes());
}

/// Copies what is committed to `FILE.v1.backup`, or where something else has that name to
/// `FILE.v1.backup.2`, and so on. Call with the write lock held, so that nobody else does.
void back_up(const std::filesystem::path& path, int version) {
  const std::string name = format("{}.v{}.backup", path.string(), version);
  const std::string partial = name + ".partial";
  std::filesystem::remove(partial);
  SQLite::Database reader(path.string());  // who is in a transaction cannot VACUUM
  SQLite::Statement copy(reader, "VACUUM INTO ?");
  copy.bind(1, partial);
  copy.exec();
  std::string backup = name;
  for (int i = 2; std::filesystem::exists(backup) && !equal_content(partial, backup); ++i) {
    backup = format("{}.{}", name, i);
  }
  std::filesystem::rename(partial, backup);
}

}  // namespace

void create_schema(SQLite::Database& database) {
  database.exec(kTables);
  database.exec(kTrialTable);
  database.exec(kDecisionTable);
  database.exec(kRetractionTable);
  database.exec(kCounterTable);
  database.exec(kBestIndex);
  database.exec(kView);
  database.exec(format("INSERT INTO meta VALUES ('minimum_reader', '{}')", kMinimumReader));
  database.exec(format("PRAGMA user_version = {}", kSchemaVersion));
  // Last: a file with this id is complete.
  database.exec(format("PRAGMA application_id = {}", kApplicationId));
}

void migrate(SQLite::Database& database, const std::filesystem::path& path, int version, int to,
             std::span<const Migration> steps) {
  for (;;) {
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    // Another process may have been faster; it has made the copy too.
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
  // A check cannot be changed: the table is made anew.
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
INSERT INTO decision SELECT * FROM old_decision;
DROP TABLE old_decision;
)sql";
  static const Migration kSteps[] = {
      {1, kBaselines.c_str()}, {2, kAudits.c_str()},    {3, kRetractions.c_str()}, {4, kSpaces},
      {5, kEnergies},          {6, kFirstUses.c_str()}, {7, kCounterTable}};
  return kSteps;
}

}  // namespace autotune::db
