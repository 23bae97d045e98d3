// SPDX-License-Identifier: Apache-2.0
// Times several implementations side by side: one batch of each in every block, in fresh random
// order. Or one implementation after another, as tensor cores at work lower the clock of what
// follows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"

namespace autotune::bench {

/// Indices of implementations: ours, cublasSgemm, then every candidate of cublasLt.
inline constexpr std::size_t kOurs = 0;
inline constexpr std::size_t kSgemm = 1;
inline constexpr std::size_t kFirstLt = 2;

struct RaceRules {
  Policy policy;                 // sets launches per batch
  int screen_blocks = 3;         // slow candidates drop out after these
  double hopeless_ratio = 1.05;  // of a slow candidate's time to the best of cuBLAS
  int fewest_blocks = 7;
  int most_blocks = 15;
  double seconds = 1.2;  // no block begins after this, once there are the fewest
};

/// Times of each implementation by block; those that dropped out have fewer. Throws KernelFailure.
std::vector<std::vector<double>> race(std::span<Timer* const> implementations, L2State l2,
                                      const RaceRules& rules, std::uint64_t seed);

/// How implementations are timed that have the GPU to themselves.
struct SoloRules {
  Policy policy;              // sets launches per batch
  double idle_seconds = 0.2;  // ahead of each batch, or of a sustained load
  int batches = 9;            // after idle time
  double load_seconds = 0.5;  // of a sustained load; its second half counts
  int loads = 3;
  double load_batch_seconds = 10e-3;
};

/// Times of the implementations `chosen`, one after another: of single batches after idle time.
/// Others have none. Throws KernelFailure.
std::vector<std::vector<double>> rested(std::span<Timer* const> implementations,
                                        std::span<const std::size_t> chosen,
                                        const SoloRules& rules);
/// The same for batches without a pause: the median of each load's second half.
std::vector<std::vector<double>> sustained(std::span<Timer* const> implementations,
                                           std::span<const std::size_t> chosen,
                                           const SoloRules& rules);

/// The result of a race. The best of cuBLAS is the least median of all that ran to the end, so
/// chance favours cuBLAS.
struct Standing {
  Measurement ours, sgemm;
  std::optional<Measurement> lt;            // the best candidate of cublasLt
  std::optional<std::size_t> lt_candidate;  // its index
  bool lt_is_best = false;                  // else cublasSgemm is
  Ratio ratio;                              // best of cuBLAS over ours, paired by block
  int blocks = 0;
};
Standing standing_of(std::span<const std::vector<double>> times);

}  // namespace autotune::bench
