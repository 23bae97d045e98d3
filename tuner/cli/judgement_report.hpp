// SPDX-License-Identifier: Apache-2.0
// The judge's verdict on a kernel, as text and as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/json/json.hpp"
#include "tuner/session/kernel_judge.hpp"

namespace autotune::cli {

// Exit status of `judge`, as documented in docs/cli.md; kDone: right and faster.
inline constexpr int kNotFaster = 4;
inline constexpr int kWrong = 5;
inline constexpr int kCheats = 6;

/// What was judged, beside the two targets.
struct JudgedFiles {
  std::string candidate, against;  // as they were named
  std::string confined;            // see confinement_here()
};

/// `right and 1.14x [1.11, 1.17] faster than saxpy at N=1048576`: one line.
std::string verdict_text(const JudgedFiles& files, const Target& candidate,
                         const KernelJudgement& judgement);

/// Of a right kernel, in lines: times at each size, how many calls were checked, and at which sizes
/// of the judge's own.
std::string judgement_text(const Target& candidate, const KernelJudgement& judgement);

/// The verdict with all figures, and a receipt: what anybody needs to repeat it.
Json judgement_json(const JudgedFiles& files, const Target& candidate, const JudgeRequest& request,
                    std::uint64_t input_seed, const Device& device,
                    const KernelJudgement& judgement);

int status_of(const KernelJudgement& judgement);

}  // namespace autotune::cli
