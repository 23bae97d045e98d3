// SPDX-License-Identifier: Apache-2.0
// Compiles on all cores while the device measures.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// What the pool has done so far.
struct CompileStatistics {
  int compiled = 0;         // by the compiler
  int cached = 0;           // found in the device's cache
  double cpu_seconds = 0;   // summed over threads
  double wall_seconds = 0;  // with a thread busy; cpu / wall: mean number of busy threads

  CompileStatistics& operator+=(const CompileStatistics& other);
};

class CompileRequests;

/// Threads that call Device::compile() for all problems at hand (CompileRequests). Prefetches
/// always leave one thread free for cached results. A unit is compiled once, however often it is
/// requested.
class CompilePool {
 public:
  using Result = std::shared_future<std::shared_ptr<const CompiledKernel>>;

  CompilePool(Device& device, int threads);
  /// Waits for running compilations and drops queued ones.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  /// At most so many compile at a time from now on.
  void set_threads(int threads);
  CompileStatistics statistics() const;

 private:
  friend class CompileRequests;
  struct Job;
  bool may_work() const;
  void work();
  Result queue(SourceUnit&& unit, bool urgent, const CompileRequests& by);
  std::shared_ptr<Job> job_of(SourceUnit&& unit, bool urgent);
  std::optional<std::size_t> wait_for_one(std::span<const Result> results,
                                          const std::function<bool()>& stop);
  void forget(const CompileRequests& requests);

  Device& device_;
  int count_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable wake_, finished_;
  std::deque<std::shared_ptr<Job>> urgent_, ahead_;
  std::unordered_map<std::string, std::shared_ptr<Job>> jobs_;
  CompileStatistics statistics_;
  int busy_ = 0;
  int prefetching_ = 0;
  double busy_since_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

/// What one problem wants compiled. Dropped with it: its finished results, and what has not started
/// and no other problem wants.
class CompileRequests {
 public:
  using Result = CompilePool::Result;

  /// The pool must outlive it.
  explicit CompileRequests(CompilePool& pool) : pool_(pool) {}
  ~CompileRequests() { pool_.forget(*this); }
  CompileRequests(const CompileRequests&) = delete;
  CompileRequests& operator=(const CompileRequests&) = delete;

  /// Queues a unit ahead of all prefetches. The result throws what the device threw.
  Result compile(SourceUnit unit) { return pool_.queue(std::move(unit), true, *this); }
  /// Queues a unit behind all units of compile().
  Result prefetch(SourceUnit unit) { return pool_.queue(std::move(unit), false, *this); }
  /// Blocks until at least one result is ready; returns the lowest ready index. `results` is not
  /// empty. Returns nullopt when `stop`, which is polled, returns true.
  std::optional<std::size_t> wait_for_one(std::span<const Result> results,
                                          const std::function<bool()>& stop = {}) {
    return pool_.wait_for_one(results, stop);
  }

 private:
  CompilePool& pool_;
};

/// Blocks until the result is ready. Returns null when `stop`, which is polled, returns true.
/// Throws what the device threw.
std::shared_ptr<const CompiledKernel> wait_for(const CompilePool::Result& result,
                                               const std::function<bool()>& stop);

}  // namespace autotune
