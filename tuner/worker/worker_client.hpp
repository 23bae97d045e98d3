// SPDX-License-Identifier: Apache-2.0
// Calls to a worker process that is started when it is needed and replaced when it fails.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {

class WorkerClient {
 public:
  /// This many workers in a row that end without having answered: the device is unhealthy.
  static constexpr int kMostFailures = 5;

  explicit WorkerClient(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  /// Sends a request and waits for its answer, in a new worker where there is none. Returns what
  /// `read` makes of the answer. `doing` is what messages say it was doing: `timing`. Throws what
  /// the worker's device threw, and otherwise KernelFailure(timeout) when the limit passes,
  /// KernelFailure(crash) when the worker ends or its answer cannot be read, Error when the device
  /// is unhealthy. After a failure of these two kinds there is no worker.
  template <class Read>
  auto call(Json request, std::string_view bytes, double limit_seconds, std::string_view doing,
            const Read& read) {
    const std::lock_guard lock(mutex_);
    const Json answer = ask(std::move(request), bytes, limit_seconds, doing);
    try {
      auto result = read_message(answer, [&](const Json& header) {
        throw_failure_in(header);
        return read(header);
      });
      failures_ = 0;
      return result;
    } catch (const KernelFailure& failure) {
      // A device that has crashed is of no more use to its process.
      const bool lasting =
          failure.outcome() == Outcome::crash || failure.outcome() == Outcome::timeout;
      if (lasting) process_.reset();
      throw;
    } catch (const WireError& error) {
      process_.reset();
      fail(Outcome::crash, format("the worker was ended while {}: {}", doing, error.what()));
    }
  }
  /// The same where the answer says no more than that it was done.
  void call(Json request, std::string_view bytes, double limit_seconds, std::string_view doing) {
    call(std::move(request), bytes, limit_seconds, doing, [](const Json&) { return true; });
  }

  /// Lets the worker forget what it holds under this number, at the next call.
  void drop(std::uint64_t id);

  /// A number for something the worker is to hold.
  std::uint64_t new_id();

  /// Counts the workers; what one was told the next does not know. 0 before the first and
  /// whenever there is none.
  int generation();

  /// In which a worker was at a call, or was started for one; those that failed count too.
  double busy_seconds();

  /// Of the worker; 0 when there is none.
  pid_t pid();

 private:
  void start();
  Json ask(Json request, std::string_view bytes, double limit_seconds, std::string_view doing);
  [[noreturn]] void fail_silent(Silence silence, double limit_seconds, std::string_view doing);
  [[noreturn]] void fail(Outcome outcome, const std::string& what);

  std::mutex mutex_;
  const std::vector<std::string> argv_;
  std::unique_ptr<WorkerProcess> process_;
  std::vector<std::uint64_t> dropped_;
  std::uint64_t next_id_ = 1;
  int started_ = 0;
  int failures_ = 0;  // in a row
  double busy_seconds_ = 0;
};

}  // namespace autotune
