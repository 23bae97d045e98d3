// SPDX-License-Identifier: Apache-2.0
// The tuned database: append-only trials in SQLite, and the best of them. docs/database.md has
// the schema, the rules of merging and what survives what.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "db/rows.hpp"

namespace autotune::db {

/// The database cannot do what was asked: one sentence with the file, what is wrong, what to try.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class Mode : std::uint8_t {
  read_write,  // creates the file and its folders where they are missing
  read_only,   // never writes; a newer schema opens where its writer allows that
  shipped,     // as read_only, and promises that nobody writes: works on a read-only file system
};

/// `$AUTOTUNE_DB`, else `$XDG_DATA_HOME/autotune/tuned.db`, else under `$HOME/.local/share`.
/// Throws StoreError where none of them is set.
std::filesystem::path default_store_path();

/// Now, as UTC text with microseconds; sorts by time. Later than at any call before in this
/// process.
std::string now_text();

/// This process, so that others can tell whether it lives: host, pid and start time.
std::string process_text();

/// What to list; an empty field takes everything.
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

/// How far a tuned problem is from the one asked for: the root mean square over the sizes of
/// log2(tuned / asked), 1 when every size is off by a factor of two.
struct NearEntry {
  TunedEntry entry;
  double distance = 0;
};

/// A configuration that twice took its process down or ran into its deadline, with the last reason.
struct Quarantined {
  std::string configuration;
  std::string outcome;  // the last: `crash` or `timeout`
  std::string reason;
};

/// What check() found: one sentence each, none when all is well.
struct CheckReport {
  std::int64_t rows = 0;
  std::vector<std::string> damage;
};

/// One open database. Any number of processes may hold the same file; an object is for one thread
/// at a time. Every method throws StoreError. Whatever a call has stored is on the disk when it
/// returns; a call that throws has stored nothing.
class TunedStore {
 public:
  explicit TunedStore(const std::filesystem::path& path, Mode mode = Mode::read_write);
  ~TunedStore();
  TunedStore(TunedStore&&) noexcept;
  TunedStore& operator=(TunedStore&&) noexcept;

  const std::filesystem::path& path() const;
  Mode mode() const;

  /// Each stores a row unless it is there, and returns its id.
  std::string add_device(const DeviceRow& device);
  std::string add_kernel(const KernelRow& kernel);
  std::string begin_session(const SessionRow& session);
  void add_decision(const DecisionRow& decision);
  /// Overrides what was measured for one problem; an empty configuration takes that back.
  void pin(const PinRow& pin);
  void calibrate(const CalibrationRow& figure);
  /// Takes the fact with this id out, for good, and derives anew what is best without it; of a
  /// session, a device or a kernel all that refers to it too. Returns the problems that it touched.
  std::vector<ProblemKey> retract(const std::string& fact, const std::string& reason);

  std::vector<DeviceRow> devices() const;
  std::vector<KernelRow> kernels() const;

  /// Stores trials, in transactions of at most 64 (those before one that throws stay), clears their
  /// inflight records and updates what is best. About 1 ms.
  void append(std::span<const TrialRow> trials);
  /// Every trial of one problem, earliest first.
  std::vector<TrialRow> trials(const ProblemKey& key) const;

  /// Before a configuration goes to a device. append() of its trial clears the record.
  void dispatch(const InflightRow& inflight);
  /// Makes a trial with outcome `crash` of every record whose process is gone, and returns those.
  std::vector<TrialRow> settle_leftovers();
  std::vector<Quarantined> quarantined(const ProblemKey& key) const;

  std::optional<BestRow> best(const ProblemKey& key) const;
  /// In the order of target, device, problem, policy; the latest first of those for one problem.
  std::vector<TunedEntry> tuned(const TunedFilter& filter) const;
  /// Of each device, settings and policy the tuned problem that is nearest to sizes such as
  /// `M=512 N=512 K=512`, in the order of tuned(). A millisecond where these are tuned, else one
  /// for a few thousand problems.
  std::vector<NearEntry> nearest(const TunedFilter& filter, const std::string& sizes) const;
  /// What tuned() would list, without reading it.
  std::vector<TunedOn> tuned_on() const;
  /// The latest figure of each name.
  std::vector<CalibrationRow> calibration(std::string_view device) const;

  /// One sentence for each row that a call so far could not use: damaged, of a form that nobody can
  /// read, or one that leave_out() named. Answers come from the others.
  const std::set<std::string>& left_out() const;
  /// From now on tuned() and nearest() leave out the entries for which `complaint` returns a text.
  void leave_out(std::function<std::string(const TunedEntry& entry)> complaint);

  /// Derives every best row anew. Names all damage in left_out(): a fact that cannot be read may
  /// have refuted or retracted another.
  void rebuild_best();
  /// The file's structure, its references, and every row against its id.
  CheckReport check() const;
  /// Gives freed pages back to the file system.
  void compact();

  /// For db/exchange.cpp: the connection behind it.
  struct Connection;
  Connection& connection() const { return *connection_; }

 private:
  std::unique_ptr<Connection> connection_;
};

}  // namespace autotune::db
