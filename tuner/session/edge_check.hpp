// SPDX-License-Identifier: Apache-2.0
// Verifies configurations of a problem on its edge problem.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {

/// Not thread-safe, but for unit(). The edge problem's buffers are made for the first verify().
class EdgeCheck {
 public:
  /// All outlive it.
  EdgeCheck(const Target& target, const Problem& problem, Device& device);

  /// What to compile for verify(); nothing where the configuration need not be verified: there is
  /// no edge problem, or the configuration is not valid on it.
  std::optional<SourceUnit> unit(const Configuration& configuration) const;

  /// Verifies a configuration that has a unit(), compiled. A failure's message names the edge
  /// problem. Throws Error where the buffers or the reference fail.
  Verdict verify(const Configuration& configuration, const CompiledKernel& kernel);

 private:
  Verdict verify_there(const Configuration& configuration, const CompiledKernel& kernel);
  Workbench& workbench();

  const Target& target_;
  Device& device_;
  const std::optional<Problem> problem_;
  std::optional<TargetProgram> program_;  // of the edge problem
  std::unique_ptr<Workbench> workbench_;
};

/// What to tell the author of a target whose default configuration fails on the edge problem.
std::string edge_complaint(const Target& target, const Verdict& verdict);

}  // namespace autotune
