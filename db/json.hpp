// SPDX-License-Identifier: Apache-2.0
// The columns of each table, listed once for storing, reading, hashing and exporting; rows as JSON,
// one object a line: the form of exports, and the text that ids are hashes of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/rows.hpp"
#include "tuner/json/json.hpp"

namespace autotune::db {

/// Table<Row>::name and Table<Row>::columns(row, visit): visit("column", member) in order, without
/// the id.
template <class Row>
struct Table;

#define AUTOTUNE_COLUMN(member) visit(#member, row.member);
/// Visits members of `row`, up to 63.
#define AUTOTUNE_COLUMNS(...) \
  NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(AUTOTUNE_COLUMN, __VA_ARGS__))
/// What follows the table's name visits the columns of `row`.
#define AUTOTUNE_TABLE(Row, table, ...)                          \
  template <>                                                    \
  struct Table<Row> {                                            \
    static constexpr const char* name = table;                   \
    static void columns(auto& row, auto&& visit) { __VA_ARGS__ } \
  };

void key_columns(auto& row, auto&& visit) { AUTOTUNE_COLUMNS(device, kernel, problem, policy) }

/// See is_later().
void baseline_columns(auto& baseline, auto&& visit) {
  visit("baseline", baseline.plugin);
  visit("baseline_candidate", baseline.candidate);
  visit("baseline_ns", baseline.ns);
  visit("baseline_low_ns", baseline.low_ns);
  visit("baseline_high_ns", baseline.high_ns);
  visit("baseline_wins", baseline.wins);
}

void time_columns(auto& row, auto&& visit) { AUTOTUNE_COLUMNS(median_ns, low_ns, high_ns, samples) }

void figure_columns(auto& row, auto&& visit) {
  AUTOTUNE_COLUMNS(configuration)
  time_columns(row, visit);
  AUTOTUNE_COLUMNS(gflops, default_configuration, default_ns, noise_floor, cold_ns, ties, verified,
                   binary_key, created_at)
  baseline_columns(row.baseline, visit);
  AUTOTUNE_COLUMNS(joules, default_joules, repeats)
}

/// Columns that the first schema lacked. The JSON of a row omits such a column if it is empty, so
/// facts that were stored before it keep their ids.
inline bool is_later(std::string_view column) {
  return column.starts_with("baseline") || column.ends_with("joules") || column == "partial" ||
         column == "space" || column == "repeats";
}

// clang-format off
AUTOTUNE_TABLE(DeviceRow, "device",
  AUTOTUNE_COLUMNS(name, kind, pci_id, compute_capability, multiprocessors, l2_bytes, memory_bytes,
                   mig_profile))
AUTOTUNE_TABLE(KernelRow, "kernel", AUTOTUNE_COLUMNS(target, fingerprint, sizes))
AUTOTUNE_TABLE(SessionRow, "session",
  AUTOTUNE_COLUMNS(started_at, tool_version, environment, command, strategy, seed, budget, partial,
                   space))
AUTOTUNE_TABLE(TrialRow, "trial",
  AUTOTUNE_COLUMNS(session)
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(stage, configuration, outcome, message)
  time_columns(row, visit);
  AUTOTUNE_COLUMNS(throttled, predicted_ns, registers, shared_bytes, local_bytes, occupancy,
                   compile_seconds, binary_key, verified, is_default, gflops, created_at))
AUTOTUNE_TABLE(DecisionRow, "decision",
  AUTOTUNE_COLUMNS(session)
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(provenance)
  figure_columns(row, visit);)
AUTOTUNE_TABLE(PinRow, "pin",
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(configuration, note, created_at))
AUTOTUNE_TABLE(CalibrationRow, "calibration", AUTOTUNE_COLUMNS(device, name, value, created_at))
AUTOTUNE_TABLE(CounterRow, "counter",
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(configuration, figures, environment, created_at))
AUTOTUNE_TABLE(ReductionClassRow, "reduction_class",
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(configuration, binary_key, bits, created_at))
AUTOTUNE_TABLE(RetractionRow, "retraction", AUTOTUNE_COLUMNS(fact, reason, created_at))
AUTOTUNE_TABLE(BestRow, "best",
  key_columns(row.key, visit);
  AUTOTUNE_COLUMNS(settings, provenance, decided, session, session_started_at)
  figure_columns(row, visit);
  AUTOTUNE_COLUMNS(source, crc, row_hash))
// clang-format on

/// Calls visit.operator()<Row>() for each table of facts. Retractions come first, and referenced
/// tables before those that refer to them. Facts have ids; export and merge work on facts.
template <class Visit>
void each_fact_table(Visit&& visit) {
  visit.template operator()<RetractionRow>();
  visit.template operator()<DeviceRow>();
  visit.template operator()<KernelRow>();
  visit.template operator()<SessionRow>();
  visit.template operator()<TrialRow>();
  visit.template operator()<DecisionRow>();
  visit.template operator()<PinRow>();
  visit.template operator()<CalibrationRow>();
  visit.template operator()<CounterRow>();
  visit.template operator()<ReductionClassRow>();
}

void append_json(std::string& out, std::string_view text);
void append_json(std::string& out, std::int64_t number);
void append_json(std::string& out, double number);  // shortest text that reads back the same
inline void append_json(std::string& out, bool value) { out += value ? "true" : "false"; }
template <class Number>
void append_json(std::string& out, const std::optional<Number>& number) {
  if (number) {
    append_json(out, *number);
  } else {
    out += "null";
  }
}

inline bool is_empty(const std::string& text) { return text.empty(); }
inline bool is_empty(std::int64_t number) { return number == 0; }
inline bool is_empty(double number) { return number == 0; }
inline bool is_empty(bool value) { return !value; }
template <class Number>
bool is_empty(const std::optional<Number>& number) {
  return !number;
}

/// `{"table":"pin","device":…}` in the order of the columns, without the id and without empty
/// columns of later schemas.
template <class Row>
std::string to_json(const Row& row) {
  std::string out = "{\"table\":";
  append_json(out, std::string_view(Table<Row>::name));
  Table<Row>::columns(row, [&](const char* name, const auto& value) {
    if (is_later(name) && is_empty(value)) return;
    out += ",\"";
    out += name;
    out += "\":";
    append_json(out, value);
  });
  out += '}';
  return out;
}

}  // namespace autotune::db
