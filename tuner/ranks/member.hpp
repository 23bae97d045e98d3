// SPDX-License-Identifier: Apache-2.0
// A rank with a device: tunes the problems that rank 0 gives it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "db/exchange.hpp"
#include "db/store.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/host/process.hpp"
#include "tuner/ranks/messages.hpp"
#include "tuner/session/problem_run.hpp"
#include "tuner/session/problem_tuner.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// What a rank tunes with.
class MemberJob {
 public:
  virtual ~MemberJob() = default;
  virtual const Target& target() const = 0;
  virtual Device& device() = 0;
  virtual const TuningRequest& request() const = 0;
  /// What tells its device from others of this host; empty if ranks may share it.
  virtual std::string device_text() const = 0;
  /// Compile threads while the host's other ranks have no work.
  virtual int most_threads() const { return request().compile_threads; }
};

struct MemberOptions {
  /// Rank 0 is lost if it is not heard of for so many seconds.
  double deadline = 30;
  /// Opens the device. Called once, in a thread of its own. Throws Error.
  std::function<std::unique_ptr<MemberJob>()> prepare;
  std::function<bool()> stop_requested;
  /// Ends the process at once, because rank 0 is lost (false) or the run is over (true) while the
  /// device is still at work. If it is empty, the work is waited for.
  std::function<void(bool is_over)> abandon;
};

/// How the run of a rank ended.
struct MemberEnd {
  bool lead_lost = false;
  EndOfRun end;  // what rank 0 said, unless it is lost
};

/// Serves rank 0 until it ends the run, or is lost. `transport` is used by the calling thread only.
MemberEnd run_member(Transport& transport, const MemberOptions& options);

/// Between the thread of a rank that speaks to rank 0 and the one that tunes.
/// A queue that a thread can wait on. Thread-safe.
template <class Item>
class Mailbox {
 public:
  void put(Item item) {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    changed_.notify_all();
  }
  std::optional<Item> poll() {
    const std::lock_guard lock(mutex_);
    return first();
  }
  /// Waits for an item. nullopt once the mailbox is closed and empty.
  std::optional<Item> wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    return first();
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  std::optional<Item> first() {
    if (items_.empty()) return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    return item;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};

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
