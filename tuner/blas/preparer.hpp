// SPDX-License-Identifier: Apache-2.0
// Prepares kernels beside the program, in a thread of its own. Until a kernel is ready, cuBLAS
// serves its calls.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/kernel_maker.hpp"

namespace autotune::blas {

class Preparer {
 public:
  /// Asks for the kernel of an entry, the first time. With `wait` it is there on return.
  void request(CallEntry& entry, bool wait);
  /// Ends the thread, after the kernel that it is preparing. What waits is dropped.
  void stop();

 private:
  void start();
  void run();
  void prepare(CallEntry& entry);

  std::mutex making_;
  KernelMaker maker_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<CallEntry*> waiting_;
  std::thread thread_;
  bool is_stopped_ = false;
};

/// Of this process. It stops at exit.
Preparer& preparer();

}  // namespace autotune::blas
