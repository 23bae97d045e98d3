// SPDX-License-Identifier: Apache-2.0
// A folder that is removed after the test, and rows for a store.
#pragma once

#include <SQLiteCpp/Database.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "db/exchange.hpp"
#include "db/store.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tuner/text/format.hpp"

namespace autotune::db {

/// In memory if possible: the tests are about processes, not disks.
struct TemporaryFolder : ScratchFolder {
  TemporaryFolder()
      : ScratchFolder(access("/dev/shm", W_OK | X_OK) == 0
                          ? std::filesystem::path("/dev/shm")
                          : std::filesystem::temp_directory_path()) {}
};

inline DeviceRow h200() {
  return {"", "NVIDIA H200", "cuda", "10de:2335", 90, 132, 62914560, 150754820096, ""};
}

/// A store with device, kernel and session, and trials for it.
struct Sample {
  explicit Sample(TunedStore& store, const std::string& started_at = "2026-03-01T12:00:00.000Z")
      : key{store.add_device(h200()), store.add_kernel({"", "gemm", "f1", "M N K"}),
            "M=512 N=512 K=512 dtype=f32", "l2=hot launch=graph"},
        session(store.begin_session({"", started_at, "0.1.0", "driver 580.82, CUDA 13.0",
                                     "autotune --target gemm --sizes 512", "guided", 1, "200"})) {}

  TrialRow trial(const std::string& configuration, double median_ns) const {
    TrialRow row;
    row.session = session;
    row.key = key;
    row.configuration = configuration;
    row.median_ns = median_ns;
    row.low_ns = median_ns * 0.99;
    row.high_ns = median_ns * 1.01;
    row.samples = 12;
    row.registers = 40;
    row.verified = true;
    row.gflops = 2.0 * 512 * 512 * 512 / median_ns;
    row.created_at = "2026-03-01T12:00:01.000Z";
    return row;
  }

  TrialRow failure(const std::string& configuration, const std::string& outcome) const {
    TrialRow row = trial(configuration, 0);
    row.outcome = outcome;
    row.message = "why it failed";
    row.median_ns = row.low_ns = row.high_ns = row.gflops = std::nullopt;
    row.verified = false;
    return row;
  }

  DecisionRow decision(const std::string& configuration, double median_ns,
                       const std::string& created_at = "2026-03-01T12:01:00.000Z") const {
    DecisionRow row;
    row.session = session;
    row.key = key;
    row.configuration = configuration;
    row.median_ns = median_ns;
    row.samples = 40;
    row.default_configuration = "BM=16";
    row.default_ns = 30000;
    row.noise_floor = 0.004;
    row.cold_ns = median_ns * 1.2;
    row.verified = true;
    row.created_at = created_at;
    return row;
  }

  /// The same, with cuBLAS faster.
  DecisionRow lost_decision(const std::string& configuration, double median_ns) const {
    DecisionRow row = decision(configuration, median_ns);
    const double ns = median_ns * 0.9;
    row.baseline = {"cublas", "cublasLt 0 (algorithm 55)", ns, ns * 0.99, ns * 1.01, true};
    return row;
  }

  ProblemKey key;
  std::string session;
};

/// Adds a decision to the database in a file.
inline void decide(const std::filesystem::path& file, const std::string& configuration,
                   double median_ns) {
  TunedStore store(file);
  store.add_decision(Sample(store).decision(configuration, median_ns));
}

/// Changes a database behind the back of its stores.
inline void execute(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
}

/// All facts of a store, as they are exported.
inline std::string facts_of(const TunedStore& store) {
  std::ostringstream out;
  export_json_lines(store, out);
  return out.str();
}

inline ImportReport import_text(TunedStore& store, const std::string& lines,
                                const std::string& name = "x") {
  std::istringstream in(lines);
  return import_json_lines(store, in, name);
}

/// What is exported for programs in C++.
inline std::string header_of(const TunedStore& store) {
  std::ostringstream out;
  export_header(store.tuned({}), out);
  return out.str();
}

}  // namespace autotune::db
