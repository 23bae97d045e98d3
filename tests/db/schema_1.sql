-- SPDX-License-Identifier: Apache-2.0
-- A database of schema 1 as the first version wrote it: what migration starts from.
CREATE TABLE best (
  device                TEXT NOT NULL REFERENCES device(id),
  kernel                TEXT NOT NULL REFERENCES kernel(id),
  problem               TEXT NOT NULL,
  policy                TEXT NOT NULL,
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
  source                TEXT NOT NULL,
  crc                   INTEGER NOT NULL,
  PRIMARY KEY (device, kernel, problem, policy)
) STRICT, WITHOUT ROWID;
INSERT INTO "best" VALUES('59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','measured',1,'804f1c71b70bd8035a12195b5fe610a0','2026-11-20T20:08:51.743Z','BLOCK=1 ITEMS=1024 VECTOR=4 STREAM=0',132.87109375,132.4150390625,133.78515625,40,7.70671762457739273344e+00,'BLOCK=256 ITEMS=2 VECTOR=4 STREAM=0',2.21728242677824255229e+03,3.10573298823635379761e-03,NULL,'',1,'f75d8c49db5cc153880b75b815bb2a9d','2026-11-20T20:08:52.613Z','398a9bb90ed51c0aaa3c225df2f01dec',-7155070072808818842);
CREATE TABLE calibration (
  id         TEXT PRIMARY KEY,
  device     TEXT NOT NULL REFERENCES device(id),
  name       TEXT NOT NULL,
  value      REAL NOT NULL,
  created_at TEXT NOT NULL
) STRICT;
CREATE TABLE decision (
  id                    TEXT PRIMARY KEY,
  session               TEXT NOT NULL REFERENCES session(id),
  device                TEXT NOT NULL REFERENCES device(id),
  kernel                TEXT NOT NULL REFERENCES kernel(id),
  problem               TEXT NOT NULL,
  policy                TEXT NOT NULL,
  provenance            TEXT NOT NULL CHECK (provenance IN ('measured', 'imported', 'predicted')),
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
  created_at            TEXT NOT NULL
) STRICT;
INSERT INTO "decision" VALUES('398a9bb90ed51c0aaa3c225df2f01dec','804f1c71b70bd8035a12195b5fe610a0','59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','measured','BLOCK=1 ITEMS=1024 VECTOR=4 STREAM=0',132.87109375,132.4150390625,133.78515625,40,7.70671762457739273344e+00,'BLOCK=256 ITEMS=2 VECTOR=4 STREAM=0',2.21728242677824255229e+03,3.10573298823635379761e-03,NULL,'',1,'f75d8c49db5cc153880b75b815bb2a9d','2026-11-20T20:08:52.613Z');
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
INSERT INTO "device" VALUES('59902aa71ed4f37c6c08fe2481768fd7','AMD EPYC','host','',0,2,402653184,25276510208,'');
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
CREATE TABLE kernel (
  id          TEXT PRIMARY KEY,
  target      TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  sizes       TEXT NOT NULL
) STRICT;
INSERT INTO "kernel" VALUES('728f6630e6d0c67878800b05cab32ad5','vector_add','a26aca5bcfb2165553dc532364614eb8','N');
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
INSERT INTO "meta" VALUES('minimum_reader','1');
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
CREATE TABLE session (
  id           TEXT PRIMARY KEY,
  started_at   TEXT NOT NULL,
  tool_version TEXT NOT NULL,
  environment  TEXT NOT NULL,
  command      TEXT NOT NULL,
  strategy     TEXT NOT NULL,
  seed         INTEGER NOT NULL,
  budget       TEXT NOT NULL
) STRICT;
INSERT INTO "session" VALUES('804f1c71b70bd8035a12195b5fe610a0','2026-11-20T20:08:51.743Z','0.1.0','g++ (Debian 12.2.0-14+deb12u1) 12.2.0','tune --target vector_add --sizes 1024 --device host --db v1.db --budget 2 --quiet','guided',1,'2');
CREATE TABLE trial (
  id              TEXT PRIMARY KEY,
  session         TEXT NOT NULL REFERENCES session(id),
  device          TEXT NOT NULL REFERENCES device(id),
  kernel          TEXT NOT NULL REFERENCES kernel(id),
  problem         TEXT NOT NULL,
  policy          TEXT NOT NULL,
  stage           TEXT NOT NULL CHECK (stage IN ('search', 'playoff')),
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
INSERT INTO "trial" VALUES('259fb873d673eae7b5a719e872a1c237','804f1c71b70bd8035a12195b5fe610a0','59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','search','BLOCK=256 ITEMS=2 VECTOR=4 STREAM=0','ok','',2.09765495867768640898e+03,2.08623553719008259584e+03,2.16925206611570229133e+03,12,0,2.85850556490660346747e+04,NULL,0,0,NULL,0.0,'eebf3f26335db2a52d01604f11a68be5',1,1,4.88164173885635710448e-01,'2026-11-20T20:08:52.185Z');
INSERT INTO "trial" VALUES('06fe7d349f7d2bbfc2fe208aba99571e','804f1c71b70bd8035a12195b5fe610a0','59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','search','BLOCK=1 ITEMS=1024 VECTOR=4 STREAM=0','ok','',1.36336789087291776923e+02,1.36224036266480879936e+02,1.37293717375217283916e+02,12,0,6.88084780881353162826e+03,NULL,0,0,NULL,0.0,'f75d8c49db5cc153880b75b815bb2a9d',1,0,7.51081206221138,'2026-11-20T20:08:52.226Z');
INSERT INTO "trial" VALUES('4916d40707675f0bedc89b0bcdc465bc','804f1c71b70bd8035a12195b5fe610a0','59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','playoff','BLOCK=1 ITEMS=1024 VECTOR=4 STREAM=0','ok','',132.87109375,132.4150390625,133.78515625,40,0,6.88084780881353162826e+03,NULL,0,0,NULL,0.0,'f75d8c49db5cc153880b75b815bb2a9d',1,0,7.70671762457739273344e+00,'2026-11-20T20:08:52.597Z');
INSERT INTO "trial" VALUES('e3a5f073a008e9726f28a3cdab490848','804f1c71b70bd8035a12195b5fe610a0','59902aa71ed4f37c6c08fe2481768fd7','728f6630e6d0c67878800b05cab32ad5','N=1024 dtype=f32','l2=hot launch=graph','playoff','BLOCK=256 ITEMS=2 VECTOR=4 STREAM=0','ok','',2.21728242677824255229e+03,2.21156485355648555922e+03,2234.73640167364,40,0,2.85850556490660346747e+04,NULL,0,0,NULL,0.0,'eebf3f26335db2a52d01604f11a68be5',1,1,0.461826598016155,'2026-11-20T20:08:52.597Z');
CREATE INDEX trial_problem ON trial(device, kernel, problem, policy);
CREATE INDEX trial_default ON trial(device, kernel, problem, policy, session) WHERE is_default;
CREATE INDEX decision_problem ON decision(device, kernel, problem, policy);
CREATE VIEW tuned AS
SELECT device.name AS gpu,
       kernel.target,
       best.problem,
       best.policy,
       best.configuration,
       round(best.median_ns / 1000, 3) AS time_us,
       round(best.gflops, 1) AS gflops,
       round(best.default_ns / best.median_ns, 3) AS ratio_to_default,
       best.provenance,
       best.created_at AS date
FROM best JOIN device ON device.id = best.device JOIN kernel ON kernel.id = best.kernel
ORDER BY kernel.target, device.name, length(best.problem), best.problem, best.policy;
PRAGMA user_version = 1;
PRAGMA application_id = 1096041538;
