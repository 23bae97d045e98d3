// SPDX-License-Identifier: Apache-2.0
// Verifies configurations on the edge problems: with free sizes at their defaults, and away from
// them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {

/// Only units() is thread-safe. The first verify() allocates the buffers of the edge problems.
class EdgeCheck {
 public:
  /// All arguments must outlive it.
  EdgeCheck(const Target& target, const Problem& problem, Device& device);

  /// What to compile for verify(): a unit for each edge problem for which the configuration is
  /// valid.
  std::vector<SourceUnit> units(const Configuration& configuration) const;

  /// Returns a compiled unit; nullptr to leave that edge problem out.
  using Compile = std::function<std::shared_ptr<const CompiledKernel>(SourceUnit)>;
  /// Verifies a configuration on the edge problems for which it is valid, until it fails. A
  /// failure's message names the problem. Throws Error if the buffers or the reference fail.
  Verdict verify(const Configuration& configuration, const Compile& compile);

 private:
  struct Place {
    Problem problem;
    std::optional<TargetProgram> program;
    std::unique_ptr<Workbench> workbench;

    bool takes(const Target& target, const Configuration& configuration) const;
  };
  Verdict verify_at(Place& place, const Configuration& configuration, const CompiledKernel& kernel);
  Workbench& workbench(Place& place);

  const Target& target_;
  Device& device_;
  std::vector<std::unique_ptr<Place>> places_;
};

/// nullopt if the device cannot run kernels, or the configuration need not be right there.
std::optional<Verdict> default_at_edge(const Target& target, const Problem& problem,
                                       const Configuration& configuration, Device& device);

/// The message for a target whose default configuration fails on the edge problem.
std::string edge_complaint(const Target& target, const Verdict& verdict);

}  // namespace autotune
