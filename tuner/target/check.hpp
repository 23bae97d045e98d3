// SPDX-License-Identifier: Apache-2.0
// What can be said of a target without running it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// One configuration, planned and compiled.
struct CheckedConfiguration {
  Configuration configuration;
  Outcome outcome = Outcome::ok;
  std::string message;  // why, when not ok: the compiler's log or the limit
  std::vector<Launch> launches;
  std::vector<KernelResources> resources;
  double compile_seconds = 0;  // 0 when cached
};

struct TargetCheck {
  /// What is legal and hardly meant, a sentence each.
  std::vector<std::string> notes;
  std::uint64_t product = 0;
  std::size_t valid = 0;
  std::vector<BufferSpec> buffers;
  Work work;
  /// The manifest's default where that is legal here, else the nearest that is.
  bool default_is_legal = false;
  /// The default first, then configurations that together hold every value.
  std::vector<CheckedConfiguration> configurations;
  Outcome reference = Outcome::ok;  // how compiling it went
  std::string reference_log;
  /// Of the default on the edge problem, for whoever runs it: check_target() does not.
  std::optional<Verdict> edge;

  bool compiles() const {
    return reference == Outcome::ok && configurations.front().outcome == Outcome::ok;
  }
  bool passed() const { return compiles() && (!edge || edge->outcome == Outcome::ok); }
};

/// How many of how many kernels are compiled. Called from other threads.
using CheckProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Builds the space, plans and compiles the default and a sample of at most `most`, and the
/// reference, on so many threads. Throws Error where the manifest makes no sense for this problem.
TargetCheck check_target(const Target& target, const Problem& problem, Device& device,
                         std::size_t most, int threads = 1, const CheckProgress& progress = {});

}  // namespace autotune
