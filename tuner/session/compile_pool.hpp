// SPDX-License-Identifier: Apache-2.0
// Compiles on all cores while the device measures: what is compiled of one problem, in which order,
// and what need not be waited for, until the end of its search.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
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
#include <utility>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {

/// Whether to end; polled before each trial and while waiting for a compiler.
using StopRequested = std::function<bool()>;

/// A search that has ended does not begin again.
class SearchEnd {
 public:
  /// Sets the condition that ends the search for good.
  void when(StopRequested stop) { stop_ = std::move(stop); }
  /// Polls the condition. For the thread of the search.
  bool ask() {
    if (!is_over_ && stop_ && stop_()) is_over_ = true;
    return is_over_;
  }
  /// The last result of ask(). For any thread.
  bool is_over() const { return is_over_; }

 private:
  StopRequested stop_;
  std::atomic<bool> is_over_ = false;
};

/// Equal for units of one target that compile to the same kernel: source folders are the same. Two
/// units of one text differ by entries where a parameter is an argument of a template only.
std::string key_of(const SourceUnit& unit);

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

/// The units that one problem wants compiled. Its destructor drops their results, and the units
/// that have not started unless another problem wants them.
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

/// For one thread. Indices are those of the space.
class CompileScheduler {
 public:
  /// All must outlive it.
  CompileScheduler(const TargetProgram& program, const ParameterSpace& space, Device& device,
                   CompileRequests& requests)
      : program_(program), space_(space), device_(device), requests_(requests) {}

  /// Compiles what is measured next, ahead of everything prefetched.
  CompileRequests::Result compile(std::size_t index);
  /// Compiles what may be asked for later.
  void prefetch(std::size_t index);
  /// Compiles all of them and returns the first `count` that finish. Returns nullopt if the search
  /// ends before.
  std::optional<std::vector<std::size_t>> first_compiled(std::vector<std::size_t> indices,
                                                         std::size_t count, SearchEnd& end);

  /// Whether its binary was cached when it was first asked for, or compile() was called since. What
  /// threads have compiled meanwhile does not count, so that one seed gives one result.
  bool is_ready(std::size_t index);

 private:
  SourceUnit unit(std::size_t index) const;
  bool& readiness(std::size_t index, const SourceUnit& unit);

  const TargetProgram& program_;
  const ParameterSpace& space_;
  Device& device_;
  CompileRequests& requests_;
  std::unordered_map<std::size_t, std::uint64_t> preludes_;  // their hashes: only they differ
  std::unordered_map<std::uint64_t, bool> is_ready_;         // by hash
};

/// The search ended while a compiler was waited for.
struct SearchOver {};

/// Blocks until a kernel is compiled. Throws SearchOver when `is_over`, which is polled, returns
/// true; else throws what the device threw.
std::shared_ptr<const CompiledKernel> wait_in_search(const CompileRequests::Result& kernel,
                                                     const std::function<bool()>& is_over);

}  // namespace autotune
