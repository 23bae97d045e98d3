// SPDX-License-Identifier: Apache-2.0
// Distributes the clusters of blocks of a launch over host threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/host/block_runner.hpp"

namespace autotune {

/// A pool of threads for launches in quick succession.
class ThreadPool {
 public:
  /// `threads` counts the caller of run(); 0: all hardware threads.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls work(0 … size-1), each on its own thread, and returns when all have returned. The caller
  /// runs number 0. `work` must not throw. One run at a time.
  void run(const std::function<void(unsigned)>& work);

  /// Elements of a piece: the cost of taking one is negligible, and it fits a cache.
  static constexpr std::int64_t kPiece = 1 << 16;

  /// Calls work(first, count) for pieces of 0 … length-1, on all threads. A single piece runs on
  /// the caller's thread.
  void run_pieces(std::int64_t length,
                  const std::function<void(std::int64_t first, std::int64_t count)>& work);

 private:
  void serve(unsigned number);

  std::vector<std::thread> threads_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::atomic<std::uint32_t> runs_{0};
  std::atomic<std::uint32_t> busy_{0};
  std::atomic<bool> stop_{false};
};

/// A launch whose kernel and arguments are resolved.
struct HostLaunch {
  std::string entry;
  autotune_host::RunClusters kernel = nullptr;
  const HostModule* module = nullptr;
  Dim3 grid, block, cluster;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<void*> arguments;  // addresses of the values
};

/// As on GPUs, without an attribute of the kernel that allows more.
inline constexpr std::int64_t kMostBlocksOfCluster = 8;

class Launcher {
 public:
  Launcher(unsigned threads, ThreadOrder order);

  /// Throws KernelFailure(crash) if a block deadlocks at a barrier.
  void run(const HostLaunch& launch);

  /// Wakes all threads for nothing: measures the overhead of every launch.
  void run_nothing();

  /// The threads, for other work between launches.
  ThreadPool& threads() { return pool_; }

 private:
  ThreadPool pool_;
  std::vector<std::unique_ptr<ClusterRunner>> runners_;  // one per thread
};

}  // namespace autotune
