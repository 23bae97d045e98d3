// SPDX-License-Identifier: Apache-2.0
// Vendors' libraries in the playoff.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune {

/// One way in which a library does the problem.
struct BaselineCandidate {
  BaselineSource source;
  std::size_t number = 0;
  std::string name;
  std::unique_ptr<Candidate> candidate;
  double seconds = 0;  // a launch
};

/// Loads it anew on another workbench; where that fails, timing it fails.
void reload(BaselineCandidate& baseline, Workbench& bench);

/// The first of each library (its default) and the fastest others, of those that are right. What
/// fails is left out, with a warning where a whole library is of no use.
std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn);

}  // namespace autotune
