// SPDX-License-Identifier: Apache-2.0
// Distributes the blocks of a launch over the threads of the host.
#pragma once

#include <memory>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/host/block_runner.hpp"
#include "tuner/host/thread_pool.hpp"

namespace autotune {

/// A launch with its kernel found and its arguments in place.
struct HostLaunch {
  std::string entry;
  autotune_host::RunBlocks kernel = nullptr;
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  std::vector<void*> arguments;  // where each one's value is
};

class Launcher {
 public:
  Launcher(unsigned threads, ThreadOrder order);

  /// Throws KernelFailure(crash) when a block stands still at a barrier.
  void run(const HostLaunch& launch);

  /// Wakes all threads for nothing: what every launch costs.
  void run_nothing();

  /// Between launches, for work of the host's own.
  ThreadPool& threads() { return pool_; }

 private:
  ThreadPool pool_;
  std::vector<std::unique_ptr<BlockRunner>> runners_;  // one a thread
};

}  // namespace autotune
