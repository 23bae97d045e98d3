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
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// What the pool did so far.
struct CompileStatistics {
  int compiled = 0;         // by the compiler
  int cached = 0;           // answered by the device's cache
  double cpu_seconds = 0;   // summed over threads
  double wall_seconds = 0;  // with at least one thread busy: cpu / wall is the mean of busy threads
};

/// Threads that call Device::compile(). Prefetches leave one of them free, lest what a cache
/// answers at once wait behind them. One unit is compiled once however often it is asked for.
class CompilePool {
 public:
  using Result = std::shared_future<std::shared_ptr<const CompiledKernel>>;

  CompilePool(Device& device, int threads);
  /// Finishes what is being compiled, drops what waits.
  ~CompilePool();
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  int threads() const { return count_; }

  /// Queues a unit, ahead of everything prefetched. The result throws what the device threw.
  Result compile(SourceUnit unit);
  /// Queues a unit behind everything asked for by compile().
  Result prefetch(SourceUnit unit);
  /// Waits for any of at least one result: which of those that are there is the first given.
  /// Nothing when `stop`, which is asked now and then, says so before.
  std::optional<std::size_t> wait_for_one(std::span<const Result> results,
                                          const std::function<bool()>& stop = {});
  /// Forgets prefetches that have not started, and finished results.
  void clear();

  CompileStatistics statistics() const;

 private:
  struct Job;
  bool may_prefetch() const;
  void work();
  Result queue(SourceUnit&& unit, bool urgent);
  std::shared_ptr<Job> job_of(SourceUnit&& unit, bool urgent);

  Device& device_;
  const int count_;
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

/// Waits for a result; null when `stop`, which is asked now and then, says so before. Throws what
/// the device threw.
std::shared_ptr<const CompiledKernel> wait_for(const CompilePool::Result& result,
                                               const std::function<bool()>& stop);

}  // namespace autotune
