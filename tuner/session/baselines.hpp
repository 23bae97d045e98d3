// SPDX-License-Identifier: Apache-2.0
// Baselines: vendors' libraries in the playoff.
#pragma once

#include <functional>
#include <memory>
#include <optional>
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

/// Loads it, also again on another workbench. If that fails, timing it fails.
void reload(BaselineCandidate& baseline, Workbench& bench);

/// The first candidate of each library (its default) and the fastest others, of those that are
/// correct. Failing candidates are left out. If a whole library fails, `warn` gets a sentence.
std::vector<BaselineCandidate> find_baselines(Workbench& bench,
                                              std::span<const BaselineSource> sources,
                                              const std::function<void(const std::string&)>& warn);

/// The baselines of one problem. They are found once, and then loaded when they are to be timed.
class Baselines {
 public:
  explicit Baselines(std::span<const BaselineSource> sources) : sources_(sources) {}

  /// As find_baselines(), unless that was done. Unloads what was found.
  void find(Workbench& bench, const std::function<void(const std::string&)>& warn);
  /// Whether it is known which there are.
  bool are_found() const { return found_.has_value() || sources_.empty(); }
  /// Loads all that were found. One that cannot be loaded fails when it is timed.
  std::vector<BaselineCandidate>& loaded(Workbench& bench);
  /// How many were found; before that, the number of libraries.
  std::size_t size() const { return found_ ? found_->size() : sources_.size(); }

 private:
  std::span<const BaselineSource> sources_;
  std::optional<std::vector<BaselineCandidate>> found_;
};

}  // namespace autotune
