// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cost_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace autotune {
namespace {

constexpr double kLanes = kWarp;
constexpr double kFmaLatency = 4.5;    // cycles, dependent instructions of one warp
constexpr double kSharedLatency = 30;  // cycles
constexpr double kIntoShared = 175;    // cycles to store data to shared memory and read it back
constexpr double kLoneWarp = 0.28;     // share of its time that the only warp of a scheduler waits
constexpr double kBlockStart = 30;     // cycles to place a block and reach its first load
constexpr double kFirstBlocks = 0.14e-6;  // seconds from a kernel's start to its first blocks
constexpr double kMostIdle = 99.99;       // percent
constexpr double kHotShare = 0.7;         // share of L2 in which the data of a call stays resident

/// A smooth max(a, b), the 4-norm: two equal times give 1.19 times one, because overlap is never
/// perfect.
double together(double a, double b) {
  const double a2 = a * a, b2 = b * b;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2));
}

/// Cycles that one block asks of each pipe of its multiprocessor, all steps together.
struct BlockLoad {
  double fma, tensor, issue, shared, l2;
  double compute;  // fma, tensor and issue combined
};

BlockLoad load_of(const GpuSpec& gpu, const Calibration& calibration, const CostInput& input) {
  const KernelWork& work = input.work;
  const double blocks = static_cast<double>(input.blocks);
  const double fmas = work.flops / 2 / blocks;
  const double reached = std::max(work.fma_percent, 1.0) / 100 * calibration.fma_share;
  // Lanes of a partial warp idle like threads without work.
  const double lanes = std::ceil(input.shape.threads / kLanes) * kLanes;
  const double busy =
      input.shape.threads / lanes * (1 - std::clamp(work.idle_percent, 0.0, kMostIdle) / 100);
  const bool on_tensor_cores = work.tensor_products > 0;
  const double slots = (on_tensor_cores ? 0 : fmas / reached) + work.instructions / blocks;
  const double multiply = fmas / (gpu.sm.fma_lanes * reached) / busy;
  const double issue = slots / (kLanes * gpu.sm.schedulers) / busy;
  return {
      on_tensor_cores ? 0 : multiply,
      on_tensor_cores ? multiply : 0,
      issue,
      work.shared_wavefronts / blocks * calibration.shared_cycles * 128.0 /
          gpu.sm.shared_bytes_per_cycle,
      work.l2_bytes / blocks / (0.8 * gpu.sm.l2_bytes_per_cycle),
      // Tensor cores and other instructions overlap in part.
      on_tensor_cores ? together(multiply, issue) : std::max(multiply, issue),
  };
}

/// Time over that of schedulers that issue in every cycle. Some schedulers have one warp more than
/// others, and few warps with few independent instructions leave gaps.
double issue_slowdown(const GpuSpec& gpu, const CostInput& input, double warps) {
  const double each = std::ceil(warps / gpu.sm.schedulers);
  const double uneven = each * gpu.sm.schedulers / warps;
  const double ready = warps / gpu.sm.schedulers * std::max(input.work.ilp, 1.0);
  const double alone = 1 + kLoneWarp / (each * each);
  return uneven * std::max(alone, kFmaLatency / std::max(ready, 0.25));
}

/// Share of the data that comes from DRAM in repeated calls. What other kernels of a call read and
/// write passes through L2, too.
double cold_share(const GpuSpec& gpu, const KernelWork& work) {
  const double kept = kHotShare * static_cast<double>(gpu.l2_bytes);
  const double data = std::max(work.dram_bytes, work.other_kernel_bytes);
  return data <= kept ? 0 : std::min(1.0, (data - kept) / kept + 0.3);
}

class Rounds {
 public:
  Rounds(const GpuSpec& gpu, const Calibration& calibration, const CostInput& input)
      : gpu_(gpu), calibration_(calibration), input_(input) {
    load_ = load_of(gpu, calibration, input);
    warps_ = std::ceil(input.shape.threads / kLanes);
    const double cold = cold_share(gpu, input.work);
    memory_latency_ = calibration.l2_latency_cycles * (1 - cold) +
                      calibration.dram_latency_cycles * cold +
                      (input.work.shared_wavefronts > 0 ? kIntoShared : 0);
    const double steps = std::max(input.work.steps, 1.0);
    outside_ = kBlockStart + input.work.round_trips * memory_latency_ + input.work.epilogue;
    // The first step's load is one of the round trips.
    inside_ = compute_latency() + (steps - 1) * step_latency();
  }

  /// Cycles for `blocks` side by side on one multiprocessor, from their start to their end.
  double round(double blocks) const {
    const double busy = pipes(blocks);
    return outside_ + std::max(together(busy, inside_), busy);
  }

  /// Cycles of latency alone that one block takes.
  double latency() const { return outside_ + inside_; }

  /// Cycles from the start of a block to its first data.
  double start() const { return kBlockStart + memory_latency_; }

  const BlockLoad& load() const { return load_; }
  double slowdown(double blocks) const { return issue_slowdown(gpu_, input_, blocks * warps_); }

 private:
  double pipes(double blocks) const {
    const double slow = slowdown(blocks);
    const double compute = blocks * load_.compute * slow;
    return together(together(compute, blocks * load_.shared), blocks * load_.l2);
  }

  /// Cycles to compute a step of a block that has the multiprocessor to itself.
  double compute_latency() const {
    const double steps = std::max(input_.work.steps, 1.0);
    const double alone = load_.compute * slowdown(1) / steps;
    const double shared = input_.work.shared_wavefronts > 0 ? kSharedLatency : 0;
    return alone + shared + input_.work.barriers * calibration_.barrier_cycles;
  }

  double step_latency() const {
    if (input_.work.prefetch < 1) return compute_latency() + memory_latency_;
    return std::max(compute_latency(), memory_latency_ / input_.work.prefetch);
  }

  const GpuSpec& gpu_;
  const Calibration& calibration_;
  const CostInput& input_;
  BlockLoad load_{};
  double warps_ = 1;
  double memory_latency_ = 0;
  double outside_ = 0;  // cycles of latency before, between and after the steps
  double inside_ = 0;   // cycles of latency of the steps
};

/// Multiprocessors that can hold blocks. A cluster lies within one group of multiprocessors, and
/// part of a group may stay empty.
double usable_multiprocessors(const GpuSpec& gpu, const Occupancy& occupancy, int cluster) {
  if (cluster <= 1) return gpu.multiprocessors;
  const double resident = occupancy.active_clusters * cluster;
  return std::min<double>(gpu.multiprocessors, resident / occupancy.active_blocks);
}

Term largest(const std::array<double, kTerms>& terms) {
  return static_cast<Term>(std::max_element(terms.begin(), terms.end()) - terms.begin());
}

/// Cycles that the fullest multiprocessor takes for `blocks`, `resident` at a time.
double all_rounds(const Rounds& rounds, double blocks, double resident) {
  const double full = std::floor(blocks / resident);
  const double rest = blocks - full * resident;
  double cycles = 0;
  if (full > 0) cycles += full * rounds.round(resident);
  if (rest > 0) cycles += rounds.round(rest);
  return cycles;
}

}  // namespace

std::string_view name_of(Term term) {
  static constexpr std::string_view kNames[] = {"launch", "latency",      "instruction issue",
                                                "FMA",    "tensor cores", "shared memory",
                                                "L2",     "DRAM"};
  return kNames[static_cast<std::size_t>(term)];
}

CostEstimate estimate(const GpuSpec& gpu, const Calibration& calibration, const CostInput& input) {
  CostEstimate result;
  result.occupancy = occupancy(gpu, input.shape);
  if (result.occupancy.active_blocks == 0 || input.blocks <= 0) {
    result.seconds = std::numeric_limits<double>::infinity();
    return result;
  }
  const KernelWork& work = input.work;
  const double blocks = static_cast<double>(input.blocks);
  const double sms = gpu.multiprocessors;
  const double usable = usable_multiprocessors(gpu, result.occupancy, input.shape.cluster);
  const double fullest = std::ceil(blocks / usable);
  const double resident = std::min<double>(result.occupancy.active_blocks, fullest);
  const double cycle = 1 / gpu.clock_hz;
  const Rounds rounds(gpu, calibration, input);
  const double slow = rounds.slowdown(resident);

  const double l2_roof = work.l2_bytes / (sms * calibration.l2_bytes_per_cycle) * cycle;
  const double cold = cold_share(gpu, work);
  const double dram_rate = gpu.memory_bytes_per_second * calibration.dram_share;
  const double dram_roof = work.dram_bytes * cold / dram_rate;
  result.terms = {
      input.launches * calibration.launch_seconds,
      std::ceil(fullest / resident) * rounds.latency() * cycle,
      fullest * rounds.load().issue * slow * cycle,
      fullest * rounds.load().fma * slow * cycle,
      fullest * rounds.load().tensor * slow * cycle,
      fullest * rounds.load().shared * cycle,
      std::max(l2_roof, fullest * rounds.load().l2 * cycle),
      dram_roof,
  };
  result.binding = largest(result.terms);
  // Each further kernel waits for the previous one, then fills the GPU again. Its data moves at the
  // rate of L2, or of DRAM where it does not fit.
  const double refill = (input.launches - 1) * (rounds.start() * cycle + kFirstBlocks);
  const double l2_rate = sms * calibration.l2_bytes_per_cycle / cycle;
  const double others = work.other_kernel_bytes * ((1 - cold) / l2_rate + cold / dram_rate);
  const double sm_time = all_rounds(rounds, fullest, resident) * cycle + refill + others;
  result.seconds =
      result.term(Term::launch) + kFirstBlocks + together(together(sm_time, l2_roof), dram_roof);

  result.waves = blocks / (sms * result.occupancy.active_blocks);
  result.balance = blocks / (sms * fullest);
  const double issued = work.flops / 2 + work.instructions;
  const bool on_tensor_cores = work.tensor_products > 0;
  result.issue_share = issued > 0 && !on_tensor_cores ? work.flops / 2 / issued : 0;
  if (on_tensor_cores) result.tensor_roof = gpu.tensor_flops_per_second() / work.tensor_products;
  result.intensity = work.dram_bytes > 0 ? work.flops / work.dram_bytes : 0;
  result.l2_intensity = work.l2_bytes > 0 ? work.flops / (work.l2_bytes / 4) : 0;
  return result;
}

namespace {

std::vector<std::size_t> order_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

std::vector<double> ranks_of(std::span<const double> values) {
  const std::vector<std::size_t> order = order_of(values);
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) {
      ranks[order[i]] = (static_cast<double>(first) + static_cast<double>(last - 1)) / 2;
    }
    first = last;
  }
  return ranks;
}

}  // namespace

double spearman(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

double top_ratio(std::span<const double> predicted, std::span<const double> measured,
                 std::size_t top) {
  const std::vector<std::size_t> order = order_of(predicted);
  double best = measured[order.front()];
  for (std::size_t i = 0; i < std::min(top, order.size()); ++i) {
    best = std::min(best, measured[order[i]]);
  }
  return best / *std::min_element(measured.begin(), measured.end());
}

}  // namespace autotune
