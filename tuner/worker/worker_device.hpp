// SPDX-License-Identifier: Apache-2.0
// A Device whose kernels run in another process: one that hangs or crashes costs that process only.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/core/device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/compiler_processes.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {

struct WorkerOptions {
  /// The limit of a call is 50 times its expected time, within these bounds.
  double least_seconds = 2;
  double most_seconds = 30;
  /// Limit for filling the buffers and running the reference.
  double open_seconds = 600;
  /// Limit for compiling one source, if the device makes its own compilers.
  double compile_seconds = 60;
  /// The compilers; null: the device makes its own.
  std::shared_ptr<CompilerProcesses> compilers = nullptr;
  /// If not empty, the worker is confined and reads these folders only: see confine().
  std::vector<std::string> readable = {};
};

/// A device for `host` or `cuda:N`. Compiles in CompilerProcesses and runs in a worker, which
/// starts at the first open(). On the host, nothing compiles while anything is timed. A
/// configuration that takes too long throws KernelFailure(timeout); one that ends the worker throws
/// KernelFailure(crash). Workbenches and candidates stay usable: they are made again in the next
/// worker. After five consecutive workers without an answer, throws Error. Throws UsageError for
/// another `spec`, Error if there is no such device or no program `autotune-worker`.
std::unique_ptr<Device> make_worker_device(const std::string& spec,
                                           std::shared_ptr<BuildCache> cache,
                                           WorkerOptions options = {});

/// The same device in this process. Without a runner, it also compiles in this process.
std::unique_ptr<Device> make_local_device(const std::string& spec,
                                          std::shared_ptr<BuildCache> cache,
                                          std::shared_ptr<CompilerRunner> runner = nullptr);

/// Calls a worker process, which is started when needed and replaced when it fails.
class WorkerClient {
 public:
  /// After this many consecutive workers without an answer, the device is unhealthy.
  static constexpr int kMostFailures = 5;

  explicit WorkerClient(std::vector<std::string> argv) : argv_(std::move(argv)) {}

  /// Sends a request and waits for its answer; starts a worker if there is none. Returns the result
  /// of `read` on the answer. `doing` describes the work in messages: `timing`. Rethrows what the
  /// worker's device threw. Throws KernelFailure(timeout) after the limit, KernelFailure(killed)
  /// if somebody else kills the worker, KernelFailure(crash) if it ends otherwise or its answer is
  /// invalid, and Error if the device is unhealthy. After these three failures there is no worker.
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
      // A process cannot use its device again after a crash.
      const bool lasting =
          failure.outcome() == Outcome::crash || failure.outcome() == Outcome::timeout;
      if (lasting) process_.reset();
      throw;
    } catch (const WireError& error) {
      process_.reset();
      fail(Outcome::crash, format("the worker was ended while {}: {}", doing, error.what()));
    }
  }
  /// The same for an answer without content.
  void call(Json request, std::string_view bytes, double limit_seconds, std::string_view doing) {
    call(std::move(request), bytes, limit_seconds, doing, [](const Json&) { return true; });
  }

  /// The next call starts a new worker.
  void renew();

  /// Tells the worker, at the next call, to drop the object with this number.
  void drop(std::uint64_t id);

  /// A new number for an object in the worker.
  std::uint64_t new_id();

  /// Number of workers started so far; 0 if none is running. A change means that the new worker
  /// holds no workload or candidate yet.
  int generation();

  /// Seconds spent on calls and on starting workers for them, failed ones included.
  double busy_seconds();

  /// The worker's process; 0 if there is none.
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
  int failures_ = 0;  // consecutive
  double busy_seconds_ = 0;
};

}  // namespace autotune
