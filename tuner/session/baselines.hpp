// SPDX-License-Identifier: Apache-2.0
// Baselines: vendors' libraries in the playoff.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// One of a library's ways to compute the problem.
struct BaselineCandidate {
  BaselineSource source;
  std::size_t number = 0;
  std::string name;
  std::unique_ptr<Candidate> candidate;
  double seconds = 0;  // per launch
};

/// Loads it again on another workbench. If that fails, timing it fails.
void reload(BaselineCandidate& baseline, Workbench& bench);

/// The first candidate of each library (its default) and the fastest others, of those that are
/// correct. Failing candidates are left out. If a whole library fails, `warn` gets a sentence.
std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn);

}  // namespace autotune
