// SPDX-License-Identifier: Apache-2.0
// Rank 0 of a run over several processes: gives problems to the other ranks, and stores what they
// find. It has no device.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/value.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/tuning_request.hpp"
#include "tuner/session/work_queue.hpp"

namespace autotune {

// The problems of the ranks with one kind of device, as rank 0 sees them.

/// What tuned problems teach the others, kept by rank 0 as text.
class Lessons {
 public:
  void add(const NamedValues& problem, std::string text);
  /// The lessons of the problems nearest to this one, less those in `known`, which are added to it.
  std::vector<std::string> about(const NamedValues& problem, std::set<std::size_t>& known) const;

 private:
  std::vector<NamedValues> problems_;
  std::vector<std::string> texts_;
};

/// What a rank was told: the problem that it tunes, and those that it prepares.
struct LeadOrder {
  std::optional<std::size_t> problem;
  std::vector<std::size_t> ahead;
};

class LeadGroup {
 public:
  LeadGroup(const Target& target, db::TunedStore& store, const DeviceInfo& device,
            TuningRequest request);

  const DeviceInfo& device() const { return device_; }
  const TuningRequest& request() const { return request_; }
  const Problem& problem(std::size_t number) const { return request_.problems.at(number); }
  bool has_waiting() const { return queue_.waiting() > 0; }
  std::size_t unfinished() const { return queue_.unfinished(); }

  /// The next problem, if one waits, for a rank with this order; `devices` share the problems.
  /// Problems that another rank prepares come last.
  std::optional<Order> next_order(LeadOrder& order, std::set<std::size_t>& lessons,
                                  std::size_t devices);
  /// What the database has about a problem: rows as JSON lines.
  std::string facts_about(std::size_t number) const;

  void finish(std::size_t number, ProblemReport report, std::string lesson);
  /// The problem waits again. False at its second time.
  bool give_back(LeadOrder& order);

  const std::map<std::size_t, ProblemReport>& reports() const { return reports_; }

 private:
  void choose_ahead(LeadOrder& order);

  const Target& target_;
  db::TunedStore& store_;
  const DeviceInfo device_;
  const TuningRequest request_;
  const std::string device_id_, kernel_id_;
  ProblemQueue queue_;
  std::set<std::size_t> prepared_;  // by a rank, and not begun
  Lessons lessons_;
  std::map<std::size_t, ProblemReport> reports_;
};

struct KnownRank {
  enum class State { starting, idle, busy, gone, lost };

  State state = State::starting;
  double heard = 0;  // when its last message came
  Hello hello;
  LeadGroup* group = nullptr;
  LeadOrder order;
  std::set<std::size_t> lessons;  // that it knows
  bool is_present = false;        // it has answered the roll call
  Done last;                      // its statistics

  /// It takes part: neither gone nor lost.
  bool is_here() const { return state != State::gone && state != State::lost; }
};

/// The ranks from 1 on.
class Roster {
 public:
  /// `size` counts rank 0.
  Roster(int size, double now);

  KnownRank& at(int number) { return ranks_.at(static_cast<std::size_t>(number - 1)); }
  int number_of(const KnownRank& rank) const { return static_cast<int>(&rank - ranks_.data()) + 1; }
  /// "rank 2 on n1"
  std::string label(const KnownRank& rank) const;

  auto begin() { return ranks_.begin(); }
  auto end() { return ranks_.end(); }
  auto begin() const { return ranks_.begin(); }
  auto end() const { return ranks_.end(); }

  bool has(KnownRank::State state) const;
  bool has_anyone() const;
  /// Ranks of a group that take part.
  std::size_t active(const LeadGroup& group) const;
  /// Ranks that take part on the host of one, itself included.
  std::size_t neighbours(const KnownRank& rank) const;
  /// Another rank that uses the same device, or nullptr.
  const KnownRank* rival_for_device(const KnownRank& rank) const;
  /// Processes on `host` of lost ranks, and of those that take part.
  std::vector<std::string> lost_processes(const std::string& host) const;
  std::vector<std::string> present_processes(const std::string& host) const;

 private:
  std::vector<KnownRank> ranks_;  // rank i + 1
};

/// Rows that came from other ranks, on their way into the database of rank 0.
/// Many messages go into one transaction, because a commit waits for the disk.
class FactInbox {
 public:
  /// `warn` hears of rows that the store refuses.
  FactInbox(db::TunedStore& store, std::function<void(const std::string&)> warn);

  /// `now` in seconds of any clock.
  void add(std::string_view lines, double now);
  /// Stores what has waited for a tenth of a second, or is much.
  void store_due(double now);
  /// What has come is on the disk when this returns. Throws db::StoreError, and keeps it then.
  void store_all();

 private:
  db::TunedStore& store_;
  const std::function<void(const std::string&)> warn_;
  std::string lines_;
  double first_came_ = 0;
};

/// Seconds between two signs of life, both ways.
double alive_pause(double deadline);

struct LeadOptions {
  /// A rank that is not heard of for so many seconds is lost.
  double deadline = 30;
  /// The request on a kind of device.
  std::function<TuningRequest(const DeviceInfo&)> request_for;
  std::function<void(const DeviceInfo&, const ProblemReport&)> on_problem;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_warning;
  std::function<bool()> stop_requested;
};

/// What the ranks with one kind of device found.
struct GroupReport {
  DeviceInfo device;
  TuningReport report;
};

/// For one thread. Times are seconds of any clock, given by the caller.
///
/// Ranks with equal devices form a group, which tunes every problem once; each group tunes them for
/// itself. A rank that fails, or is not heard of, costs the problem that it tuned: another begins
/// it anew. A run that has no rank left ends with Error; so does one whose target is wrong, and one
/// in which two ranks' devices fail at one problem. At the end rank 0 calls the roll: a rank that
/// does not answer is lost, even if it had nothing left to do, because mpirun would wait for a
/// stopped one.
class Lead {
 public:
  /// All must outlive it.
  Lead(const Target& target, db::TunedStore& store, Transport& transport, LeadOptions options,
       double now);

  /// A message from a rank.
  void take(const Packet& packet, double now);
  /// Gives orders, looks for lost ranks, stores. To be called often.
  void tick(double now);
  /// Nothing is left to do, and every rank has answered the roll call or is lost.
  bool is_over() const;
  /// Stores what is left, and ends the run on all ranks. Throws the run's Error.
  void end();

  /// One for each kind of device, in the order in which they came.
  std::vector<GroupReport> reports(double seconds) const;
  /// What the ranks of a host are told at the end.
  EndOfRun end_of_run(const std::string& host) const;

 private:
  void take(KnownRank& rank, const Message& message, double now);
  void welcome(KnownRank& rank, const Message& message);
  void take_done(KnownRank& rank, const Message& message);
  void take_failure(KnownRank& rank, const Message& message);
  void give_orders();
  void give_order(KnownRank& rank);
  int threads_of(const KnownRank& rank) const;
  void lose_silent(double now);
  void leave(KnownRank& rank, KnownRank::State state);
  bool work_is_over() const;
  void call_roll();
  void fail(std::exception_ptr failure);
  bool stopped() const { return options_.stop_requested && options_.stop_requested(); }
  bool ends() const { return failure_ != nullptr || stop_sent_; }
  void stop_ranks();
  void send_alive(double now);
  void tell(const KnownRank& rank, const Json& header, std::string_view bytes = {});
  LeadGroup& group_of(const DeviceInfo& device);
  void warn(const std::string& sentence) const;

  const Target& target_;
  db::TunedStore& store_;
  Transport& transport_;
  const LeadOptions options_;
  FactInbox inbox_;
  Roster ranks_;
  std::vector<std::unique_ptr<LeadGroup>> groups_;
  std::exception_ptr failure_;
  bool stop_sent_ = false, roll_called_ = false;
  double alive_sent_ = 0;
};

}  // namespace autotune
