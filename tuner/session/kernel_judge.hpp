// SPDX-License-Identifier: Apache-2.0
// Whether a kernel that somebody else wrote is right, and whether it is faster.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/edge_problem.hpp"
#include "tuner/core/target.hpp"
#include "tuner/measure/policy.hpp"
#include "tuner/measure/statistics.hpp"
#include "tuner/session/compile_pool.hpp"

namespace autotune {

/// `cheats`: right where it is looked at as usual, and fast only there.
enum class Ruling : std::uint8_t { right, wrong, cheats };
std::string_view name_of(Ruling ruling);

/// How long a right kernel takes, compared with its rival.
enum class Pace : std::uint8_t { faster, alike, slower };
std::string_view name_of(Pace pace);

struct JudgeRequest {
  std::vector<Problem> problems;
  std::uint64_t seed = 1;  // of sizes of the judge's own, and of the order of blocks
  int own_sizes = 4;       // for each problem; half of them small
  Policy policy;
  /// The rivals, if there are any; else that is the target's own default.
  std::span<const BaselineSource> baselines = {};
  double repeat_seconds = 1;  // of repeated calls of one problem
};

/// What was found on one problem.
struct JudgedProblem {
  Problem problem;
  std::string rival;  // `the reference`, `cublas: ...`
  Measurement candidate_seconds, rival_seconds;
  Ratio speedup;  // the rival's time over the candidate's, paired
  Pace pace = Pace::alike;
  double noise_floor = 0, time_floor = 0;
  double worst_error = 0;  // over the tolerance
  bool repeats = true;     // calls on the same contents gave the same bits
  int checked_calls = 0;   // at least so many
  Ratio unseen;  // calls on contents never seen, over calls on contents seen; 0 samples: not timed
};

struct KernelJudgement {
  Ruling ruling = Ruling::right;
  Outcome outcome = Outcome::ok;
  std::string why;                      // if it is not right: a sentence
  std::string where;                    // the problem at which it is not
  std::vector<JudgedProblem> problems;  // timed ones
  std::vector<Problem> own;             // problems of the judge's own on which it was right
  std::vector<std::string> notes;
  std::string binary_key, rival_key;
  Pace pace = Pace::alike;  // over all problems: faster or slower only if none contradicts
};

/// What judge_kernel() compiles, for a caller that knows what comes next.
std::vector<SourceUnit> units_of(const Target& candidate, const JudgeRequest& request,
                                 const DeviceInfo& device);

/// Judges a target of candidate_for(). Compiles all units at once. A timeout counts if a second
/// attempt ends so too: the machine may have been busy. Throws Error if the reference fails, or the
/// device, or if a compiler is late.
KernelJudgement judge_kernel(const Target& candidate, const JudgeRequest& request, Device& device,
                             CompilePool& pool,
                             const std::function<void(const std::string&)>& warn = {});

// The sizes at which the judge verifies a kernel, beside those that are named.

/// Sizes with a default, free sizes included, that the candidate never hears of: it is right at
/// their defaults only.
std::vector<std::string> unknown_sizes(const Target& candidate);

/// Edge problems of what the candidate is compared with, as far as they are valid for both. Unknown
/// sizes have their defaults.
EdgeProblems judged_edges(const Target& candidate, const Problem& problem,
                          const DeviceInfo& device);

/// Problems of the sizes that nobody has named: between the edge problem's and those of `problem`,
/// of which the configuration is valid.
std::vector<Problem> own_problems(const Target& target, const Problem& problem,
                                  const DeviceInfo& device, int count, std::uint64_t seed);

}  // namespace autotune
