// SPDX-License-Identifier: Apache-2.0
// The tuned database: append-only trials in SQLite, and the best of them. docs/database.md has the
// schema, the rules of merging, and what happens when something fails.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "db/rows.hpp"

namespace autotune::db {

/// An error of the database: one sentence with the file, what is wrong and what to try.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Mode : std::uint8_t {
  read_write,  // creates the file and its folders if they are missing
  read_only,   // never writes; opens a newer schema if its writer allows that
  shipped,     // as read_only, and promises that nobody writes: for read-only file systems
};

/// How long calls wait while another process has the file locked: until this moment, which several
/// files may share, or 20 s each.
using WaitUntil = std::optional<std::chrono::steady_clock::time_point>;

/// `$AUTOTUNE_DB`, else `$XDG_DATA_HOME/autotune/tuned.db`, else under `$HOME/.local/share`. Throws
/// StoreError if none of them is set.
std::filesystem::path default_store_path();

/// The current time as UTC text with microseconds; sorts by time. Later than every earlier result
/// in this process.
std::string now_text();

/// Identifies this process, so that others can tell whether it is alive: host with the namespace of
/// process ids, pid and start time.
std::string process_text();
/// The number of the process that a process_text() names, if it is of this host and container and
/// alive; else 0.
pid_t live_process_near(std::string_view process);

/// Selects entries; an empty field matches everything.
struct TunedFilter {
  std::string device_name = {};
  std::string target = {};
  std::string problem = {};
  std::string policy = {};
  std::string sizes =
      {};  // `M=512 N=512 K=512`: problems of exactly these, whatever their settings
};

/// A target, a device that it is tuned on, and the names of its sizes: `M N K`.
struct TunedOn {
  std::string target, device_name, size_names;
};

/// A tuned problem and its distance from the problem asked about: the root mean square over the
/// sizes of log2(tuned / asked). It is 1 if every size differs by a factor of two.
struct NearEntry {
  TunedEntry entry;
  double distance = 0;
};

/// A configuration that crashed or timed out twice, with the last reason.
struct Quarantined {
  std::string configuration;
  std::string outcome;  // the last: `crash` or `timeout`
  std::string reason;
};

/// The result of check(): one sentence per fault.
struct CheckReport {
  std::int64_t rows = 0;
  std::vector<std::string> damage;
};

/// One open database. Any number of processes may open the same file. Where the file system has no
/// file locks, it can be read, but not written. An object must be used by one thread at a time.
/// Every method throws StoreError. What a call stored is on the disk when it returns; a call that
/// throws has stored nothing.
class TunedStore {
 public:
  explicit TunedStore(const std::filesystem::path& path, Mode mode = Mode::read_write,
                      WaitUntil wait_until = {});
  ~TunedStore();
  TunedStore(TunedStore&&) noexcept;
  TunedStore& operator=(TunedStore&&) noexcept;

  const std::filesystem::path& path() const;
  Mode mode() const;
  /// One sentence if the file is read without locks; else empty.
  const std::string& warning() const;

  /// Each stores a row unless it exists, and returns its id.
  std::string add_device(const DeviceRow& device);
  std::string add_kernel(const KernelRow& kernel);
  std::string begin_session(const SessionRow& session);
  void add_decision(const DecisionRow& decision);
  /// Overrides the measured answer for one problem; an empty configuration takes that back.
  void pin(const PinRow& pin);
  void calibrate(const CalibrationRow& figure);
  /// Withdraws the fact with this id for good, and derives the best rows again. Withdrawing a
  /// session, device or kernel covers everything that refers to it. Returns the affected problems.
  std::vector<ProblemKey> retract(const std::string& fact, const std::string& reason);

  /// nullopt where there is none of this id, or it is damaged.
  std::optional<SessionRow> session(const std::string& id) const;
  std::optional<PinRow> pin_of(const std::string& id) const;
  std::vector<DeviceRow> devices() const;
  std::vector<KernelRow> kernels() const;

  /// Stores trials in transactions of at most 64, and updates the best rows. If one transaction
  /// throws, those before it stay. About 1 ms.
  void append(std::span<const TrialRow> trials);
  /// Every trial of one problem, earliest first.
  std::vector<TrialRow> trials(const ProblemKey& key) const;
  /// The same with what failed under other policies, because that refutes under every one.
  std::vector<TrialRow> history(const ProblemKey& key) const;
  /// The same as trials() without right ones whose configurations failed since, under any policy.
  /// Answers and lists of good configurations come from these.
  std::vector<TrialRow> standing(const ProblemKey& key) const;

  /// Whatever the policy.
  std::vector<Quarantined> quarantined(const ProblemKey& key) const;
  /// Says why this database refutes an entry of another database; "" if it does not. The function
  /// knows what has failed until now.
  std::function<std::string(const TunedEntry& entry)> refuter() const;

  std::optional<BestRow> best(const ProblemKey& key) const;
  /// The pin of this problem, if its configuration has failed, so that it is no answer.
  std::optional<PinRow> refuted_pin(const ProblemKey& key) const;
  /// Sorted by target, device, problem and policy; for one problem, the latest first.
  std::vector<TunedEntry> tuned(const TunedFilter& filter) const;
  /// Problems that have trials and no best row, because no trial is an answer. Only the key, the
  /// session and the time of the last trial are set. Latest first.
  std::vector<TunedEntry> unanswered(const TunedFilter& filter) const;
  /// For each device, settings and policy, the tuned problem nearest to sizes such as
  /// `M=512 N=512 K=512`, in the order of tuned(). A search starts from these. Reads the keys of
  /// all problems.
  std::vector<NearEntry> nearest(const TunedFilter& filter, const std::string& sizes) const;
  /// The targets and devices of tuned(), without reading the rows.
  std::vector<TunedOn> tuned_on() const;
  /// The latest figure of each name.
  std::vector<CalibrationRow> calibration(std::string_view device) const;

  /// One sentence for each row that a call so far could not use: damaged, malformed, or excluded by
  /// leave_out(). Answers come from the others.
  const std::set<std::string>& left_out() const;
  /// From now on, tuned() and nearest() leave out entries for which `complaint` returns a text.
  void leave_out(std::function<std::string(const TunedEntry& entry)> complaint);

  /// Derives every best row again.
  void rebuild_best();
  /// Checks the file's structure, its references, and every row against its id.
  CheckReport check() const;
  /// Gives free pages back to the file system.
  void compact();

  /// The connection, for db/exchange.cpp.
  struct Connection;
  Connection& connection() const { return *connection_; }

 private:
  std::unique_ptr<Connection> connection_;
};

}  // namespace autotune::db
