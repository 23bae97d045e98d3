// SPDX-License-Identifier: Apache-2.0
#include "db/tables.hpp"

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

}  // namespace autotune::db
