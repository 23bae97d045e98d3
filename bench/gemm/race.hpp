// SPDX-License-Identifier: Apache-2.0
// Times several rivals side by side: one batch of each in every block, in fresh random order.
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

/// Who takes part: ours, cublasSgemm, then every candidate of cublasLt.
inline constexpr std::size_t kOurs = 0;
inline constexpr std::size_t kSgemm = 1;
inline constexpr std::size_t kFirstLt = 2;

struct RaceRules {
  Policy policy;          // sizes a batch
  int screen_blocks = 3;  // then candidates go that are `hopeless_ratio` behind the best vendor
  double hopeless_ratio = 1.05;
  int fewest_blocks = 7;
  int most_blocks = 15;
  double seconds = 1.2;  // no block is begun after it once there are the fewest
};

/// Times of each rival, block by block; those that went have fewer. Throws KernelFailure.
std::vector<std::vector<double>> race(std::span<Timer* const> rivals, L2State l2,
                                      const RaceRules& rules, std::uint64_t seed);

/// What a race showed. The vendor's best is the least median of all that ran to the end, so chance
/// favours the vendor.
struct Standing {
  Measurement ours, sgemm;
  std::optional<Measurement> lt;        // the best candidate of cublasLt
  std::optional<std::size_t> lt_rival;  // which it was
  bool lt_is_best = false;              // else cublasSgemm is
  Ratio ratio;                          // the vendor's best over ours, paired by block
  int blocks = 0;
};
Standing standing_of(std::span<const std::vector<double>> times);

}  // namespace autotune::bench
