// SPDX-License-Identifier: Apache-2.0
// Checks a target without running it: its space, its plans, whether it compiles.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/parameter_space.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// One configuration, planned and compiled.
struct CheckedConfiguration {
  Configuration configuration;
  Outcome outcome = Outcome::ok;
  std::string message;                // if not ok: the compiler's log or the exceeded limit
  std::optional<Command> build = {};  // of a target that is a program
  std::vector<Launch> launches;
  std::vector<KernelResources> resources;
  double compile_seconds = 0;  // 0 when cached
};

struct TargetCheck {
  /// Warnings, one sentence each, about legal but probably mistaken declarations.
  std::vector<std::string> notes;
  std::uint64_t product = 0;
  std::size_t valid = 0;
  std::vector<BufferSpec> buffers;
  Work work;
  /// Whether the manifest's default is legal here. Otherwise the nearest legal one replaces it.
  bool default_is_legal = false;
  /// The default first, then configurations that together have every value.
  std::vector<CheckedConfiguration> configurations;
  Outcome reference = Outcome::ok;  // of compiling the reference
  std::string reference_log;
  /// Of the default on the edge problem. check_target() leaves it empty; its caller may run it.
  std::optional<Verdict> edge;

  bool compiles() const {
    return reference == Outcome::ok && configurations.front().outcome == Outcome::ok;
  }
  bool passed() const { return compiles() && (!edge || edge->outcome == Outcome::ok); }
};

/// Receives the number of compiled kernels and the total. Called from other threads.
using CheckProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Builds the space, then compiles the reference and at most `most` configurations, the default
/// among them, on `threads` threads. Throws Error if the manifest does not fit the problem.
TargetCheck check_target(const Target& target, const Problem& problem, Device& device,
                         std::size_t most, int threads = 1, const CheckProgress& progress = {});

// A few configurations that represent a whole space.

/// At most `most` indices, beginning with `first`. Each next one adds as many new parameter values
/// as possible, until every value of a valid configuration occurs. A space of more than 100,000
/// configurations is searched at evenly spaced indices only.
std::vector<std::size_t> covering_configurations(const ParameterSpace& space, std::size_t first,
                                                 std::size_t most);

}  // namespace autotune
