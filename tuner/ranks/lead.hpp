// SPDX-License-Identifier: Apache-2.0
// Rank 0 of a run over several processes: gives problems to the other ranks, and stores what they
// find. It has no device.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/target.hpp"
#include "tuner/ranks/lead_group.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

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
