// SPDX-License-Identifier: Apache-2.0
// The columns of each table, listed once for storing, reading, hashing and exporting; rows as JSON,
// one object a line: the form of exports, and the text that ids are hashes of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "db/rows.hpp"

namespace autotune::db {

/// Table<Row>::name and Table<Row>::columns(row, visit): visit("column", member) in order, without
/// the id.
template <class Row>
struct Table;

template <class Key, class Visit>
void key_columns(Key& key, Visit&& visit) {
  visit("device", key.device);
  visit("kernel", key.kernel);
  visit("problem", key.problem);
  visit("policy", key.policy);
}

/// See is_later().
template <class Figures, class Visit>
void baseline_columns(Figures& baseline, Visit&& visit) {
  visit("baseline", baseline.plugin);
  visit("baseline_candidate", baseline.candidate);
  visit("baseline_ns", baseline.ns);
  visit("baseline_low_ns", baseline.low_ns);
  visit("baseline_high_ns", baseline.high_ns);
  visit("baseline_wins", baseline.wins);
}

template <class Row, class Visit>
void time_columns(Row& row, Visit&& visit) {
  visit("median_ns", row.median_ns);
  visit("low_ns", row.low_ns);
  visit("high_ns", row.high_ns);
  visit("samples", row.samples);
}

template <class Row, class Visit>
void figure_columns(Row& row, Visit&& visit) {
  visit("configuration", row.configuration);
  time_columns(row, visit);
  visit("gflops", row.gflops);
  visit("default_configuration", row.default_configuration);
  visit("default_ns", row.default_ns);
  visit("noise_floor", row.noise_floor);
  visit("cold_ns", row.cold_ns);
  visit("ties", row.ties);
  visit("verified", row.verified);
  visit("binary_key", row.binary_key);
  visit("created_at", row.created_at);
  baseline_columns(row.baseline, visit);
  visit("joules", row.joules);
  visit("default_joules", row.default_joules);
  visit("repeats", row.repeats);
}

/// Columns that the first schema lacked. The JSON of a row omits such a column if it is empty, so
/// facts that were stored before it keep their ids.
inline bool is_later(std::string_view column) {
  return column.starts_with("baseline") || column.ends_with("joules") || column == "partial" ||
         column == "space" || column == "repeats";
}

template <>
struct Table<DeviceRow> {
  static constexpr const char* name = "device";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("name", row.name);
    visit("kind", row.kind);
    visit("pci_id", row.pci_id);
    visit("compute_capability", row.compute_capability);
    visit("multiprocessors", row.multiprocessors);
    visit("l2_bytes", row.l2_bytes);
    visit("memory_bytes", row.memory_bytes);
    visit("mig_profile", row.mig_profile);
  }
};

template <>
struct Table<KernelRow> {
  static constexpr const char* name = "kernel";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("target", row.target);
    visit("fingerprint", row.fingerprint);
    visit("sizes", row.sizes);
  }
};

template <>
struct Table<SessionRow> {
  static constexpr const char* name = "session";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("started_at", row.started_at);
    visit("tool_version", row.tool_version);
    visit("environment", row.environment);
    visit("command", row.command);
    visit("strategy", row.strategy);
    visit("seed", row.seed);
    visit("budget", row.budget);
    visit("partial", row.partial);
    visit("space", row.space);
  }
};

template <>
struct Table<TrialRow> {
  static constexpr const char* name = "trial";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("session", row.session);
    key_columns(row.key, visit);
    visit("stage", row.stage);
    visit("configuration", row.configuration);
    visit("outcome", row.outcome);
    visit("message", row.message);
    time_columns(row, visit);
    visit("throttled", row.throttled);
    visit("predicted_ns", row.predicted_ns);
    visit("registers", row.registers);
    visit("shared_bytes", row.shared_bytes);
    visit("local_bytes", row.local_bytes);
    visit("occupancy", row.occupancy);
    visit("compile_seconds", row.compile_seconds);
    visit("binary_key", row.binary_key);
    visit("verified", row.verified);
    visit("is_default", row.is_default);
    visit("gflops", row.gflops);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<DecisionRow> {
  static constexpr const char* name = "decision";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("session", row.session);
    key_columns(row.key, visit);
    visit("provenance", row.provenance);
    figure_columns(row, visit);
  }
};

template <>
struct Table<PinRow> {
  static constexpr const char* name = "pin";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    key_columns(row.key, visit);
    visit("configuration", row.configuration);
    visit("note", row.note);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<CalibrationRow> {
  static constexpr const char* name = "calibration";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("device", row.device);
    visit("name", row.name);
    visit("value", row.value);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<CounterRow> {
  static constexpr const char* name = "counter";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    key_columns(row.key, visit);
    visit("configuration", row.configuration);
    visit("figures", row.figures);
    visit("environment", row.environment);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<ReductionClassRow> {
  static constexpr const char* name = "reduction_class";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    key_columns(row.key, visit);
    visit("configuration", row.configuration);
    visit("binary_key", row.binary_key);
    visit("bits", row.bits);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<RetractionRow> {
  static constexpr const char* name = "retraction";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("fact", row.fact);
    visit("reason", row.reason);
    visit("created_at", row.created_at);
  }
};

template <>
struct Table<BestRow> {
  static constexpr const char* name = "best";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    key_columns(row.key, visit);
    visit("settings", row.settings);
    visit("provenance", row.provenance);
    visit("decided", row.decided);
    visit("session", row.session);
    visit("session_started_at", row.session_started_at);
    figure_columns(row, visit);
    visit("source", row.source);
    visit("crc", row.crc);
    visit("row_hash", row.row_hash);
  }
};

template <>
struct Table<InflightRow> {
  static constexpr const char* name = "inflight";
  template <class Row, class Visit>
  static void columns(Row& row, Visit&& visit) {
    visit("session", row.session);
    key_columns(row.key, visit);
    visit("configuration", row.configuration);
    visit("process", row.process);
    visit("started_at", row.started_at);
  }
};

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
