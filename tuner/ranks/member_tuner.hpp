// SPDX-License-Identifier: Apache-2.0
// The thread of a rank that tunes.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "db/exchange_part.hpp"
#include "db/store.hpp"
#include "tuner/host/temporary_folder.hpp"
#include "tuner/ranks/help_server.hpp"
#include "tuner/ranks/mailbox.hpp"
#include "tuner/ranks/member.hpp"
#include "tuner/ranks/remote_helpers.hpp"
#include "tuner/session/prepared_problems.hpp"
#include "tuner/session/problem_tuner.hpp"

namespace autotune {

/// Rows of this rank in a database of its own, until rank 0 has them. Thread-safe.
class Scratch {
 public:
  Scratch();
  std::filesystem::path path() const { return folder_.path() / "tuned.db"; }
  /// Rows that are new since the last call, as JSON lines.
  std::string fresh();
  /// Adds rows that rank 0 has.
  void add(const std::string& lines);

 private:
  std::mutex mutex_;
  TemporaryFolder folder_;
  db::TunedStore store_;
  db::FactsEnd end_;
};

/// A packet to a rank.
struct Outgoing {
  int to = 0;
  std::string bytes;
};

/// Answers the orders of its mailbox until that is closed. All may be called from any thread.
class MemberTuner {
 public:
  MemberTuner(const MemberOptions& options, int rank);
  ~MemberTuner();
  MemberTuner(const MemberTuner&) = delete;
  MemberTuner& operator=(const MemberTuner&) = delete;

  /// The body of the thread.
  void run();
  /// What rank 0 has said: an order, or the wish to stop. What other ranks have said about help.
  void take(int from, Message message);
  /// Ends run() after the running launch.
  void stop();
  /// Whether run() opens a device or tunes.
  bool is_busy() const { return is_busy_; }

  /// A message to another rank, if there is one. Before one to rank 0, rows must be sent.
  std::optional<Outgoing> poll() { return outbox_.poll(); }
  /// New rows as a message; empty if there are none.
  std::string facts();
  /// A sign of life, with the progress.
  std::string alive();

 private:
  /// A message for the thread that tunes.
  struct Task {
    int from = 0;
    Message message;
  };

  void serve();
  void say_hello();
  void tune(const Message& message);
  TuningCallbacks callbacks();
  void post(int to, std::string bytes) { outbox_.put({to, std::move(bytes)}); }
  bool stopped() const { return stop_ || (options_.stop_requested && options_.stop_requested()); }

  const MemberOptions& options_;
  Mailbox<Task> tasks_;
  Mailbox<Outgoing> outbox_;
  RemoteHelpers helpers_;
  std::atomic<bool> stop_ = false, is_busy_ = true;
  std::mutex progress_mutex_;
  std::optional<Progress> progress_;

  Scratch scratch_;
  std::unique_ptr<MemberJob> job_;
  // From the first order on.
  struct Tuning;
  std::unique_ptr<Tuning> tuning_;
};

}  // namespace autotune
