// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/block_choice.hpp"

namespace autotune {
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
