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
#include "tuner/ranks/mailbox.hpp"
#include "tuner/ranks/member.hpp"
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

/// Answers the orders of its mailbox until that is closed. All may be called from any thread.
class MemberTuner {
 public:
  explicit MemberTuner(const MemberOptions& options);
  ~MemberTuner();
  MemberTuner(const MemberTuner&) = delete;
  MemberTuner& operator=(const MemberTuner&) = delete;

  /// The body of the thread.
  void run();
  /// What rank 0 has said: an order, or the wish to stop.
  void take(Message message);
  /// Ends run() after the running launch.
  void stop();
  /// Whether run() opens a device or tunes.
  bool is_busy() const { return is_busy_; }

  /// A message to rank 0, if there is one. Rows must be sent before it.
  std::optional<std::string> poll() { return outbox_.poll(); }
  /// New rows as a message; empty if there are none.
  std::string facts();
  /// A sign of life, with the progress.
  std::string alive();

 private:
  void serve();
  void say_hello();
  void tune(const Message& message);
  TuningCallbacks callbacks();
  void post(std::string bytes) { outbox_.put(std::move(bytes)); }
  bool stopped() const { return stop_ || (options_.stop_requested && options_.stop_requested()); }

  const MemberOptions& options_;
  Mailbox<Message> orders_;
  Mailbox<std::string> outbox_;
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
