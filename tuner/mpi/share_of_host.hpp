// SPDX-License-Identifier: Apache-2.0
// What a rank may use of its host, which it shares with other ranks.
#pragma once

#include <string>

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

/// Cores that this process may run on.
int allowed_cores();

}  // namespace autotune
