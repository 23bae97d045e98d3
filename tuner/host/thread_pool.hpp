// SPDX-License-Identifier: Apache-2.0
// A pool of threads for launches in quick succession.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace autotune {

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

}  // namespace autotune
