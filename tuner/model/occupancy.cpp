// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/occupancy.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Most blocks of clusters on one multiprocessor, even if other limits allow more.
constexpr int kMostBlocks = 8;
/// No GPU has a larger group.
constexpr int kLargestGroup = 24;

struct Answer {
  int cluster, blocks, clusters;
};

bool agrees(std::span<const int> groups, std::span<const Answer> answers) {
  return std::ranges::all_of(answers, [&](const Answer& each) {
    return resident_clusters(groups, each.cluster, each.blocks) == each.clusters;
  });
}

/// Adds groups of at least `size` with `multiprocessors` in total that agree with all answers, by
/// backtracking. False if there are none. Multiprocessors come in pairs, so group sizes are even.
bool add_large(std::vector<int>& groups, int size, int multiprocessors,
               std::span<const Answer> answers) {
  if (multiprocessors == 0) return agrees(groups, answers);
  if (size > std::min(multiprocessors, kLargestGroup)) return false;
  groups.push_back(size);
  if (add_large(groups, size, multiprocessors - size, answers)) return true;
  groups.pop_back();
  return add_large(groups, size + 2, multiprocessors, answers);
}

}  // namespace

int resident_clusters(std::span<const int> groups, int cluster, int blocks) {
  int clusters = 0;
  for (const int group : groups) {
    if (group >= cluster) clusters += group * std::min(blocks, kMostBlocks) / cluster;
  }
  return clusters;
}

std::vector<int> cluster_groups(int largest, const ResidentClusters& resident) {
  // With as many blocks on a multiprocessor as in a cluster, the answer is the number of
  // multiprocessors in groups of that size and more.
  const int small = std::min(largest, kMostBlocks);
  std::vector<int> groups;
  for (int size = 2; size < small; ++size) {
    const int these = resident(size, size) - resident(size + 1, size + 1);
    if (these < 0 || these % size != 0) return {};
    groups.insert(groups.end(), static_cast<std::size_t>(these / size), size);
  }
  const int in_large = resident(small, small);
  if (in_large < 0) return {};
  std::vector<Answer> answers;
  for (int cluster = 2; cluster <= largest; ++cluster) {
    for (int blocks = 1; blocks <= kMostBlocks; ++blocks) {
      answers.push_back({cluster, blocks, resident(cluster, blocks)});
    }
  }
  if (!add_large(groups, small, in_large, answers)) return {};
  return groups;
}

namespace {

constexpr std::int64_t round_up(std::int64_t value, std::int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

constexpr int blocks_of(std::int64_t have, std::int64_t each) {
  return each > 0 ? static_cast<int>(have / each) : kUnlimited;
}

int warp_limit(const Multiprocessor& sm, const KernelShape& kernel, int warps) {
  return kernel.threads > sm.max_threads_per_block ? 0 : sm.warps / warps;
}

/// Warps that the register files hold, each partition on its own.
std::int64_t warps_by_registers(const Multiprocessor& sm, std::int64_t per_warp, int partitions) {
  const std::int64_t each = sm.registers / partitions / per_warp;
  return partitions > 1 ? each * partitions : each / sm.warp_unit * sm.warp_unit;
}

/// The hardware admits a block as if its warps were spread over all partitions evenly.
bool admitted(const Multiprocessor& sm, std::int64_t per_warp, int warps) {
  // GP100 has two partitions, but admits only blocks that GPUs with four admit, too.
  const int unit = sm.compute_capability == 60 ? 4 : std::max(sm.partitions, 1);
  return per_warp * round_up(warps, unit) <= sm.registers_per_block;
}

int register_limit(const Multiprocessor& sm, const KernelShape& kernel, int warps,
                   std::int64_t& allocated) {
  if (kernel.registers == 0) return kUnlimited;
  const std::int64_t per_warp = std::int64_t{kernel.registers} * kWarp;
  if (sm.registers_by_block) {
    allocated = round_up(round_up(warps, sm.warp_unit) * per_warp, sm.register_unit);
    return kernel.registers > sm.registers_per_thread ? 0 : blocks_of(sm.registers, allocated);
  }
  const std::int64_t rounded = round_up(per_warp, sm.register_unit);
  allocated = rounded * warps;
  if (kernel.registers > sm.registers_per_thread || !admitted(sm, rounded, warps)) return 0;
  return static_cast<int>(warps_by_registers(sm, rounded, sm.partitions) / warps);
}

/// Bytes of shared memory that a multiprocessor is set to for blocks of `each`.
std::int64_t configured(const Multiprocessor& sm, std::int64_t each, int carveout) {
  if (carveout < 0 || sm.shared_sizes.empty()) return sm.shared_bytes;
  const auto at_least = [&](std::int64_t bytes) {
    for (const int kib : sm.shared_sizes) {
      if (std::int64_t{kib} * 1024 >= bytes) return std::int64_t{kib} * 1024;
    }
    return sm.shared_bytes;
  };
  const std::int64_t asked = at_least(sm.shared_bytes * carveout / 100);
  if (asked >= each) return asked;
  // A preference that is too small for the block is raised.
  return sm.compute_capability >= 70 ? at_least(each) : sm.shared_bytes;
}

int shared_limit(const Multiprocessor& sm, const KernelShape& kernel, std::int64_t& allocated) {
  allocated = round_up(kernel.shared_bytes() + sm.reserved_shared_bytes, sm.shared_unit);
  if (allocated > sm.shared_bytes_per_block + sm.reserved_shared_bytes) return 0;
  return blocks_of(configured(sm, allocated, kernel.carveout), allocated);
}

/// Clusters resident on the whole GPU.
int clusters_of(const GpuSpec& gpu, int cluster, int blocks) {
  std::span<const int> groups = gpu.cluster_groups;
  if (groups.empty()) groups = {&gpu.multiprocessors, 1};
  return resident_clusters(groups, cluster, blocks);
}

}  // namespace

std::string_view name_of(Limit limit) {
  static constexpr std::string_view kNames[] = {"warps",         "blocks",   "registers",
                                                "shared memory", "barriers", "clusters"};
  return kNames[static_cast<std::size_t>(limit)];
}

std::vector<Limit> Occupancy::limiters() const {
  std::vector<Limit> binding;
  for (int i = 0; i < kLimits; ++i) {
    if (limited_by(static_cast<Limit>(i))) binding.push_back(static_cast<Limit>(i));
  }
  return binding;
}

Occupancy occupancy(const GpuSpec& gpu, const KernelShape& kernel) {
  const Multiprocessor& sm = gpu.sm;
  Occupancy result;
  if (kernel.threads <= 0) return result;
  const int warps = (kernel.threads + kWarp - 1) / kWarp;
  result.limits = {
      warp_limit(sm, kernel, warps),
      sm.blocks,
      register_limit(sm, kernel, warps, result.registers_per_block),
      shared_limit(sm, kernel, result.shared_per_block),
      sm.barriers > 0 ? blocks_of(sm.barriers, kernel.barriers) : kUnlimited,
      kUnlimited,
  };
  result.active_blocks = *std::min_element(result.limits.begin(), result.limits.end());
  if (kernel.cluster > 1) {
    result.active_clusters = kernel.cluster > sm.max_cluster
                                 ? 0
                                 : clusters_of(gpu, kernel.cluster, result.active_blocks);
    const int resident = result.active_clusters * kernel.cluster;
    if (resident < gpu.multiprocessors * result.active_blocks) {
      // Some multiprocessors hold fewer blocks: the mean, rounded up.
      result.limits[static_cast<std::size_t>(Limit::clusters)] =
          (resident + gpu.multiprocessors - 1) / gpu.multiprocessors;
      result.active_blocks = std::min(result.active_blocks, result.limit(Limit::clusters));
    }
  }
  result.active_warps = result.active_blocks * warps;
  result.active_threads = result.active_blocks * kernel.threads;
  result.fraction = static_cast<double>(result.active_warps) / sm.warps;
  return result;
}

std::optional<std::string> complaint(const GpuSpec& gpu, const KernelShape& kernel) {
  const Multiprocessor& sm = gpu.sm;
  if (kernel.threads <= 0)
    return format("a block of {} threads is empty: ask for 1 or more", kernel.threads);
  if (kernel.threads > sm.max_threads_per_block) {
    return format("a block of {} threads exceeds {}'s limit of {}: use a smaller block",
                  kernel.threads, gpu.name, sm.max_threads_per_block);
  }
  if (kernel.registers < 0 || kernel.registers > sm.registers_per_thread) {
    return format(
        "{} registers per thread are outside {}'s range of 0 to {}: the compiler spills "
        "what is over it",
        kernel.registers, gpu.name, sm.registers_per_thread);
  }
  if (kernel.static_shared_bytes < 0 || kernel.dynamic_shared_bytes < 0 ||
      kernel.shared_bytes() > sm.shared_bytes_per_block) {
    return format(
        "{} bytes of shared memory per block are outside {}'s range of 0 to {}: use smaller "
        "tiles or fewer stages",
        kernel.shared_bytes(), gpu.name, sm.shared_bytes_per_block);
  }
  if (kernel.cluster > 1 && sm.max_cluster == 1) {
    return format("{} has no clusters (compute capability 9.0 and up): use a cluster of 1",
                  gpu.name);
  }
  if (kernel.cluster < 1 || kernel.cluster > sm.max_cluster) {
    return format("a cluster of {} blocks is outside 1 to {}: use 2, 4 or 8", kernel.cluster,
                  sm.max_cluster);
  }
  if (kernel.barriers < 0 || kernel.barriers > 16) {
    return format("{} barriers per block are outside 0 to 16: use fewer", kernel.barriers);
  }
  if (kernel.carveout < -1 || kernel.carveout > 100) {
    return format("a carve-out of {} % is outside 0 to 100: leave it out for the driver's choice",
                  kernel.carveout);
  }
  return std::nullopt;
}

namespace {

constexpr std::int64_t kSharedSteps = 256;

KernelShape with_threads(KernelShape kernel, int threads, const SharedOfBlock& shared) {
  kernel.threads = threads;
  kernel.dynamic_shared_bytes = shared(threads);
  return kernel;
}

}  // namespace

std::optional<BlockChoice> best_block(const GpuSpec& gpu, const KernelShape& kernel,
                                      const SharedOfBlock& shared) {
  std::optional<BlockChoice> best;
  for (int threads = gpu.sm.max_threads_per_block; threads >= kWarp; threads -= kWarp) {
    const Occupancy result = occupancy(gpu, with_threads(kernel, threads, shared));
    if (result.active_blocks == 0) continue;
    if (!best || result.active_threads > best->occupancy.active_threads) best = {threads, result};
  }
  return best;
}

std::optional<BlockChoice> best_square_block(const GpuSpec& gpu, const KernelShape& kernel,
                                             const SharedOfBlock& shared) {
  const std::optional<BlockChoice> best = best_block(gpu, kernel, shared);
  if (!best) return std::nullopt;
  int threads = 1;
  while (threads * 4 <= best->threads) threads *= 4;
  const Occupancy result = occupancy(gpu, with_threads(kernel, threads, shared));
  if (result.active_blocks == 0) return std::nullopt;
  return BlockChoice{threads, result};
}

std::vector<SweepPoint> sweep(const GpuSpec& gpu, const KernelShape& kernel, Swept what,
                              const SharedOfBlock& shared) {
  std::vector<SweepPoint> points;
  KernelShape shape = kernel;
  if (what == Swept::registers) {
    for (shape.registers = 1; shape.registers <= gpu.sm.registers_per_thread; ++shape.registers) {
      points.push_back({shape.registers, occupancy(gpu, shape)});
    }
  } else if (what == Swept::shared) {
    shape.static_shared_bytes = 0;
    for (std::int64_t i = 0; i <= kSharedSteps; ++i) {
      shape.dynamic_shared_bytes = gpu.sm.shared_bytes_per_block * i / kSharedSteps;
      points.push_back({shape.dynamic_shared_bytes, occupancy(gpu, shape)});
    }
  } else {
    for (int threads = kWarp; threads <= gpu.sm.max_threads_per_block; threads += kWarp) {
      points.push_back({threads, occupancy(gpu, with_threads(kernel, threads, shared))});
    }
  }
  return points;
}

}  // namespace autotune
