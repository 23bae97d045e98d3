// SPDX-License-Identifier: Apache-2.0
// What a rank tunes with: the target of the command line, its own device, and its share of the
// host. Ends a job whose start hangs: MPI waits for ever for a rank that died or stopped meanwhile.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tuner/cli/arguments.hpp"
#include "tuner/ranks/member.hpp"

namespace autotune {

/// Devices of a host, as a rank sees them.
struct VisibleGpus {
  int count = 0;
  bool chosen = false;  // by CUDA_VISIBLE_DEVICES, as srun sets it
};

/// The device of a rank: `cuda:2`, `host` or `model:NAME`. `text` is --device, and `local_rank`
/// counts the ranks with devices on this host from 0. `auto`, `cuda` and `cuda:all` are the GPU of
/// this number, or the only GPU that is visible; of a list, each rank has one item. All ranks share
/// the host device, and a model. Throws UsageError if there are more ranks than devices.
std::string device_of_rank(const std::string& text, int local_rank, const VisibleGpus& gpus);

/// The compile threads of a rank that may run on `allowed` of the host's `cores`: its share, unless
/// the launcher has bound it to cores of its own.
int threads_of_rank(int allowed, int cores, int local_size);

/// While it lives, ends this process with cli::kFailed after so many seconds, and kills the ranks
/// of this host that are stopped, for which mpirun would wait. The message names `variable`, which
/// holds the limit.
class StartLimit {
 public:
  StartLimit(double seconds, const char* variable);
  ~StartLimit();
  StartLimit(const StartLimit&) = delete;
  StartLimit& operator=(const StartLimit&) = delete;

 private:
  void watch(double seconds, const char* variable);

  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_started_ = false;
  std::thread thread_;
};

/// Kills the stopped processes among the children of a process.
void kill_stopped_children(int parent);

/// Throws UsageError or Error.
std::unique_ptr<MemberJob> open_own_job(cli::Arguments arguments, int rank, int local_rank,
                                        int local_size);

}  // namespace autotune
