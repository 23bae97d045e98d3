// SPDX-License-Identifier: Apache-2.0
// Prepares kernels in a background thread. Until a kernel is ready, cuBLAS serves its calls.
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
  /// Requests the kernel of an entry, once. With `wait`, it is ready on return.
  void request(CallEntry& entry, bool wait);
  /// Ends the thread after the kernel that it is preparing. Drops the other requests.
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
