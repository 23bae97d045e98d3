// SPDX-License-Identifier: Apache-2.0
// A database with some bytes changed: a reader, which the first byte of the input chooses, either
// refuses it or serves what was stored.
#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "db/exchange.hpp"
#include "db/lookup_source.hpp"
#include "tests/db/sample.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/json/json.hpp"

namespace autotune::fuzz {
namespace {

using db::TunedStore;

/// Of a problem: a playoff's winner, a failure that refutes a faster one, what was tried beside.
void tune(TunedStore& store, db::Sample& sample, int size) {
  sample.key.problem = format("M={0} N={0} K={0} dtype=f32", size);
  db::TrialRow standard = sample.trial("BM=16", 30000), failure = sample.failure("BM=8", "wrong");
  standard.is_default = true;
  failure.stage = "playoff";
  failure.created_at = "2026-03-01T12:00:02.000Z";
  store.append(std::vector{standard, sample.trial("BM=8", 500), sample.trial("BM=32", 2000),
                           sample.trial("BM=64", 1000), failure});
}

/// Small pages: most bytes mean something.
void fill(const std::filesystem::path& path) {
  TunedStore store(path);
  db::Sample sample(store);
  for (const int size : {64, 128, 256}) tune(store, sample, size);
  sample.key.problem = "M=64 N=64 K=64 dtype=f32";
  store.add_decision(sample.lost_decision("BM=32", 2000));
  const db::DecisionRow wrong = sample.decision("BM=128", 9, "2026-03-02T12:00:00.000Z");
  store.add_decision(wrong);
  store.retract(store.best(sample.key)->source, "a wrong clock");
  sample.key.problem = "M=256 N=256 K=256 dtype=f32";
  store.pin({"", sample.key, "BM=32", "", "2026-03-03T12:00:00.000Z"});
  store.calibrate({"", sample.key.device, "bandwidth", 1e12, "2026-03-03T12:00:00.000Z"});
  SQLite::Database(path.string(), SQLite::OPEN_READWRITE).exec("PRAGMA page_size = 512; VACUUM");
}

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const db::LookupRequest& lookup_request() {
  static const db::LookupRequest kRequest{.target = "gemm",
                                          .fingerprint = "f1",
                                          .device = db::h200(),
                                          .environment = "driver 580.82, CUDA 13.0",
                                          .size_names = "M N K",
                                          .settings = "dtype=f32"};
  return kRequest;
}

/// The database as it was stored.
struct Truth {
  std::string bytes;
  std::vector<db::TunedEntry> entries;
  std::vector<db::LookupRow> rows;
  std::map<std::string, Json> facts;  // by their ids

  Truth() {
    const db::TemporaryFolder folder;
    const auto path = folder / "t.db";
    fill(path);
    bytes = bytes_of(path);
    const TunedStore store(path, db::Mode::read_only);
    entries = store.tuned({});
    rows = db::read_lookup_rows(std::vector{db::Layer{path}}, lookup_request()).rows;
    std::stringstream lines;
    db::export_json_lines(store, lines);
    for (std::string line; std::getline(lines, line);) facts[hash128(line)] = Json::parse(line);
  }
};

const Truth& truth() {
  static const Truth kTruth;
  return kTruth;
}

/// Four bytes of the input turn bits of one byte of the file: three say where, one which.
std::string damaged(std::string bytes, std::string_view input) {
  constexpr std::size_t kMostEdits = 64;
  for (std::size_t i = 0; i < kMostEdits && input.size() >= 4; ++i, input.remove_prefix(4)) {
    const auto part = [&](std::size_t at) { return static_cast<unsigned char>(input[at]); };
    const std::size_t place = part(0) | part(1) << 8U | part(2) << 16U;
    bytes[place % bytes.size()] ^= input[3];
  }
  return bytes;
}

/// Without the session, which only tells how an answer was found.
bool is_stored(const db::TunedEntry& entry) {
  return std::ranges::any_of(truth().entries, [&](const db::TunedEntry& stored) {
    return stored.best == entry.best && stored.device == entry.device &&
           stored.kernel == entry.kernel;
  });
}

bool is_stored(const db::LookupRow& row) {
  return std::ranges::any_of(truth().rows, [&](const db::LookupRow& stored) {
    return stored.sizes == row.sizes && stored.configuration == row.configuration &&
           stored.provenance == row.provenance && stored.baseline == row.baseline &&
           stored.median_ns == row.median_ns && stored.default_ns == row.default_ns &&
           stored.baseline_ns == row.baseline_ns;
  });
}

/// Whether a fact that was stored says the same.
bool follows_from_a_fact(const db::BestRow& best) {
  const auto found = truth().facts.find(best.source);
  if (found == truth().facts.end()) return false;
  const Json& fact = found->second;
  const bool same = fact.at("configuration") == best.configuration &&
                    fact.at("problem") == best.key.problem &&
                    fact.at("policy") == best.key.policy && fact.at("device") == best.key.device;
  const bool timed = fact.contains("median_ns");
  return same && (!timed || fact.at("median_ns") == best.median_ns.value_or(-1));
}

/// Refuted, or retracted.
bool is_taken_back(const db::BestRow& best) {
  return best.configuration == "BM=8" || best.configuration == "BM=128";
}

/// As `autotune db check` does, and export.
void check(const std::filesystem::path& path) {
  const TunedStore store(path, db::Mode::read_only);
  store.check();
  std::ostringstream lines;
  db::export_json_lines(store, lines);
}

/// As `autotune query` and explain do.
void ask(const std::filesystem::path& path) {
  const TunedStore store(path, db::Mode::read_only);
  for (const db::TunedEntry& entry : store.tuned({})) {
    require(is_stored(entry), "a damaged answer is served");
    store.trials(entry.best.key);
    store.quarantined(entry.best.key);
    store.calibration(entry.best.key.device);
  }
  for (const db::NearEntry& near : store.nearest({.target = "gemm"}, "M=256 N=256 K=256")) {
    require(is_stored(near.entry), "a damaged near answer is served");
  }
}

void look_up(const std::filesystem::path& path) {
  const auto found = db::read_lookup_rows(std::vector{db::Layer{path}}, lookup_request());
  for (const db::LookupRow& row : found.rows) {
    require(is_stored(row), "libautotune is given a damaged answer");
  }
}

/// As `autotune db compact` does.
void derive_anew(const std::filesystem::path& path) {
  TunedStore store(path);
  store.rebuild_best();
  for (const db::TunedEntry& entry : store.tuned({})) {
    require(follows_from_a_fact(entry.best), "a damaged fact became an answer");
    require(!is_taken_back(entry.best) || !store.left_out().empty(),
            "what was taken back is served without a word");
  }
}

/// As `autotune db import` does with a database.
void merge(const std::filesystem::path& path) {
  TunedStore store(":memory:");
  db::merge(store, TunedStore(path, db::Mode::read_only));
  for (const db::TunedEntry& entry : store.tuned({})) {
    require(follows_from_a_fact(entry.best), "a damaged fact was imported");
  }
}

constexpr void (*kReaders[])(const std::filesystem::path&) = {ask, look_up, merge, derive_anew,
                                                              check};

}  // namespace

void feed(std::string_view input) {
  if (input.empty()) return;
  const db::TemporaryFolder folder;
  const auto path = folder / "t.db";
  std::ofstream(path, std::ios::binary) << damaged(truth().bytes, input.substr(1));
  kReaders[static_cast<unsigned char>(input[0]) % std::size(kReaders)](path);
}

}  // namespace autotune::fuzz
