// SPDX-License-Identifier: Apache-2.0
// Prepares kernels in a background thread. Until a kernel is ready, cuBLAS serves its calls.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/kernel_maker.hpp"
#include "tuner/blas/runtime_library.hpp"

namespace autotune::blas {

class Preparer {
 public:
  /// Requests the kernel of an entry, once. With `wait`, it is ready on return.
  void request(CallEntry& entry, bool wait);
  /// For the end of the process. Drops all requests, and ends the thread, or leaves it behind if it
  /// does not end within kLongestEnd. Does not wait for a compiler.
  void stop();

 private:
  void start();
  void run();
  void prepare(CallEntry& entry);
  void load();

  static constexpr std::chrono::milliseconds kLongestEnd{500};

  std::mutex making_;
  KernelMaker maker_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<CallEntry*> waiting_;
  std::thread thread_;
  const RuntimeLibrary* runtime_ = nullptr;  // once the thread has loaded it
  bool is_stopped_ = false, has_ended_ = false;
};

/// Of this process. It stops at exit.
Preparer& preparer();

}  // namespace autotune::blas
