// SPDX-License-Identifier: Apache-2.0
// The rows of the tuned database as plain structs of text and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune::db {

/// Every `id` is the hash of the rest of its row. Equal rows have equal ids, so merging is a set
/// union. A row that does not match its id is damaged. The store sets the id; leave it empty. Times
/// of day are UTC text from now_text(), `2026-03-01T12:00:00.000000Z`. Facts are ordered by them.

/// A kind of device. Driver and clocks belong to the session.
struct DeviceRow {
  std::string id;
  std::string name;
  std::string kind;  // cuda, host, model, fake
  std::string pci_id;
  std::int64_t compute_capability = 0;
  std::int64_t multiprocessors = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t memory_bytes = 0;
  std::string mig_profile;
  friend bool operator==(const DeviceRow&, const DeviceRow&) = default;
};

struct KernelRow {
  std::string id;
  std::string target;
  std::string fingerprint;  // hash of what its results depend on
  std::string sizes;        // names of its sizes: `M N K`; the rest of a problem is settings
  friend bool operator==(const KernelRow&, const KernelRow&) = default;
};

/// One run of the tool.
struct SessionRow {
  std::string id;
  std::string started_at;
  std::string tool_version;
  std::string environment;  // `driver 580.82, CUDA 13.0, NVRTC 13.0.88`
  std::string command;
  std::string strategy;
  std::int64_t seed = 0;
  std::string budget;
  /// Only a part of the space was searched (`--fix`): its leader is not an answer.
  bool partial = false;
  std::string space = {};  // hash of the target's parameters and constraints, where it is known
  friend bool operator==(const SessionRow&, const SessionRow&) = default;
};

/// The key of a result. `device` and `kernel` are ids.
struct ProblemKey {
  std::string device;
  std::string kernel;
  std::string problem;  // `M=512 N=512 K=512 dtype=f32`
  std::string policy;   // `l2=hot launch=graph`
  friend auto operator<=>(const ProblemKey&, const ProblemKey&) = default;
};

/// The policy of what another tuner recorded: `by=t4`. It is never compared with what was measured.
inline constexpr std::string_view kOtherTuner = "by=";
inline bool is_of_other_tuner(std::string_view policy) { return policy.starts_with(kOtherTuner); }

/// What a policy's text says: `l2=hot launch=graph objective=energy context=between`. The views are
/// parts of that text.
struct StoredPolicy {
  std::string_view without_context;
  std::string_view context;  // `chain` if the text has none
  bool is_cold = false, is_by_time = false;
  bool is_measured = false;  // not recorded by another tuner
};
StoredPolicy stored_policy(std::string_view policy);

/// The time of a configuration and its 95 % interval, in nanoseconds; empty if it was not timed.
struct Times {
  std::optional<double> median_ns;
  std::optional<double> low_ns;
  std::optional<double> high_ns;
  std::int64_t samples = 0;
  friend bool operator==(const Times&, const Times&) = default;
};

/// One configuration that was tried. A fact: it never changes.
struct TrialRow : Times {
  std::string id;
  std::string session;
  ProblemKey key;
  std::string stage = "search";  // or `playoff`; `audit` in rows of earlier versions
  std::string configuration;     // `BM=64 BN=64`
  std::string outcome = "ok";    // an Outcome's name
  std::string message;           // the reason, if not ok
  bool throttled = false;
  std::optional<double> predicted_ns;
  std::optional<std::int64_t> registers;
  std::optional<std::int64_t> shared_bytes;
  std::optional<std::int64_t> local_bytes;
  std::optional<double> occupancy;
  double compile_seconds = 0;
  std::string binary_key;
  bool verified = false;
  bool is_default = false;
  std::optional<double> gflops;
  std::string created_at;
  friend bool operator==(const TrialRow&, const TrialRow&) = default;
};

/// The fastest candidate of the baselines in a playoff.
struct BaselineFigures {
  std::string plugin;     // `cublas`; empty if none took part
  std::string candidate;  // `cublasLt 0 (algorithm 55, …)`
  std::optional<double> ns;
  std::optional<double> low_ns;
  std::optional<double> high_ns;
  /// Faster than the best configuration: the whole interval of the paired ratio is below 1.
  bool wins = false;

  /// `cublas cublasSgemm`; the plugin's name has no blank.
  std::string text() const { return plugin.empty() ? "" : plugin + ' ' + candidate; }
  friend bool operator==(const BaselineFigures&, const BaselineFigures&) = default;
};

/// A chosen configuration and its published figures.
struct Figures : Times {
  std::string configuration;
  std::optional<double> gflops;
  std::string default_configuration;
  std::optional<double> default_ns;
  std::optional<double> noise_floor;  // relative spread of the playoff's A/A pair: 0.004
  std::optional<double> cold_ns;      // the median in the other L2 state
  // The energy of a call, if the policy's objective is not time.
  std::optional<double> joules, default_joules;
  std::string ties;  // configurations that tie, one a line
  bool verified = false;
  std::string binary_key;
  std::string created_at;
  /// Whether the runs that verified it gave the same bits; empty if that is not known.
  std::optional<bool> repeats;
  BaselineFigures baseline;
  friend bool operator==(const Figures&, const Figures&) = default;
};

/// The decision of a session's playoff on one problem: a fact. Its figures are the published ones.
struct DecisionRow : Figures {
  std::string id;
  std::string session;
  ProblemKey key;
  std::string provenance = "measured";  // measured, in use, imported, first use, predicted
  friend bool operator==(const DecisionRow&, const DecisionRow&) = default;
};

/// A person's choice for one problem; the latest counts. An empty configuration takes it back.
struct PinRow {
  std::string id;
  ProblemKey key;
  std::string configuration;
  std::string note;
  std::string created_at;
  friend bool operator==(const PinRow&, const PinRow&) = default;
};

/// A figure of a device that was measured once, such as `bandwidth_bytes_per_second`.
struct CalibrationRow {
  std::string id;
  std::string device;
  std::string name;
  double value = 0;
  std::string created_at;
  friend bool operator==(const CalibrationRow&, const CalibrationRow&) = default;
};

/// Withdraws another fact for good. Nothing is deleted, so merging stays a set union: the fact may
/// arrive before or after its retraction.
struct RetractionRow {
  std::string id;
  std::string fact;  // the withdrawn id; that of a session covers its trials and decisions
  std::string reason;
  std::string created_at;
  friend bool operator==(const RetractionRow&, const RetractionRow&) = default;
};

/// The answer for one problem, derived from trials, decisions and pins.
struct BestRow : Figures {
  ProblemKey key;
  std::string settings;    // the problem without its sizes: `dtype=f32`
  std::string provenance;  // pinned, or that of a decision
  bool decided = false;    // by a playoff or a pin; else the leader of an unfinished session
  std::string session;
  std::string session_started_at;
  std::string source;  // id of the trial, decision or pin
  // The store sets these.
  std::int64_t crc = 0;       // of the columns that a lookup uses
  std::int64_t row_hash = 0;  // of the whole row
  friend bool operator==(const BestRow&, const BestRow&) = default;
};

/// Whether a result was compared with what it could lose to, as a playoff or a person decided. The
/// leader of an unfinished run was not: it is known, and no answer.
inline bool is_answer(bool decided, std::string_view provenance) {
  return decided || provenance == "predicted";
}

/// A best row with the rows that its ids refer to.
struct TunedEntry {
  BestRow best;
  DeviceRow device;
  KernelRow kernel;
  SessionRow session;
};

// Stored values of hardware counters.

class TunedStore;

/// The counters of one call: a fact.
struct CounterRow {
  std::string id;
  ProblemKey key;
  std::string configuration;
  std::string figures;      // `instructions=4096 dram_read_bytes=131072 …`
  std::string environment;  // `driver 580.82, CUDA 13.0`
  std::string created_at;
  friend bool operator==(const CounterRow&, const CounterRow&) = default;
};

/// Throws StoreError.
void add_counters(TunedStore& store, const CounterRow& row);

/// The latest of each configuration of a problem, sorted by configuration. Throws StoreError.
std::vector<CounterRow> counters_of(const TunedStore& store, const ProblemKey& key);

/// The reduction class of a build of a configuration: a fact. It holds for every M and however
/// calls are timed: the key's problem has M=1, and its policy is empty.
struct ReductionClassRow {
  std::string id;
  ProblemKey key;
  std::string configuration;
  std::string binary_key;
  std::string bits;
  std::string created_at;
  friend bool operator==(const ReductionClassRow&, const ReductionClassRow&) = default;
};

/// In one transaction. Throws StoreError.
void add_classes(TunedStore& store, const std::vector<ReductionClassRow>& rows);

/// Sorted by configuration, the latest first. Throws StoreError.
std::vector<ReductionClassRow> classes_of(const TunedStore& store, const ProblemKey& key);

// The canonical text of a problem, `M=512 N=512 K=512 dtype=f32`: first sizes, which have a
// distance, then settings, which are equal or not. Standard library only.

/// Removes the sizes from the front of `problem` and leaves the settings. `names` as in
/// KernelRow::sizes: `M N K`. Returns their number. Returns nullopt if the text does not begin with
/// positive sizes of these names, or if `sizes` is too small.
std::optional<std::size_t> take_sizes(std::string_view& problem, std::string_view names,
                                      std::span<std::int64_t> sizes);

/// The number of sizes that `M N K` names.
std::size_t size_count_of(std::string_view names);

/// The same without the sizes' values.
bool take_sizes(std::string_view& problem, std::string_view names);

/// Root mean square of log2(a / b): 1 if every size differs by a factor of two.
double size_distance(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace autotune::db
