// SPDX-License-Identifier: Apache-2.0
// Distributes the clusters of blocks of a launch over host threads.
#pragma once

#include <memory>
#include <vector>

#include "tuner/core/launch.hpp"
#include "tuner/host/cluster_runner.hpp"
#include "tuner/host/thread_pool.hpp"

namespace autotune {

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
