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
#include "tuner/worker/worker_process.hpp"

namespace autotune {

class WorkerClient {
 public:
  /// This many workers in a row that end without having answered: the device is unhealthy.
  static constexpr int kMostFailures = 5;

  explicit WorkerClient(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  /// Sends a request and waits for its answer, in a new worker where there is none. `doing` is what
  /// messages say it was doing: `timing`. Throws what the worker's device threw, and otherwise
  /// KernelFailure(timeout) when the limit passes, KernelFailure(crash) when the worker ends, Error
  /// when the device is unhealthy. After a failure of these two kinds there is no worker.
  Json call(Json request, std::string_view bytes, double limit_seconds, std::string_view doing);

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
  [[noreturn]] void fail(Silence silence, double limit_seconds, std::string_view doing);

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
