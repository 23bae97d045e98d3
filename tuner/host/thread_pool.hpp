// SPDX-License-Identifier: Apache-2.0
// Threads that stay, for launches that follow each other closely.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace autotune {

class ThreadPool {
 public:
  /// `threads` counts the caller of run() as one; 0 = as many as the hardware has.
  explicit ThreadPool(unsigned threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  unsigned size() const { return static_cast<unsigned>(threads_.size()) + 1; }

  /// Calls work(0 … size-1), each on a thread of its own, and returns when all have returned; the
  /// caller is number 0. `work` must not throw. One run at a time.
  void run(const std::function<void(unsigned)>& work);

  /// Large enough that taking the next piece costs nothing beside it, small enough for a cache.
  static constexpr std::int64_t kPiece = 1 << 16;

  /// Calls work(first, count) for the pieces of 0 … length-1, on all threads at a time; where there
  /// is one alone, on the caller's.
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
