// SPDX-License-Identifier: Apache-2.0
// Verifies configurations on the edge problem.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tuner/core/device.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {

/// Only unit() is thread-safe. The first verify() allocates the edge problem's buffers.
class EdgeCheck {
 public:
  /// All arguments must outlive it.
  EdgeCheck(const Target& target, const Problem& problem, Device& device);

  /// What to compile for verify(). Returns nullopt if there is no edge problem, or if the
  /// configuration is not valid on it.
  std::optional<SourceUnit> unit(const Configuration& configuration) const;

  /// Verifies a compiled configuration that has a unit(). A failure's message names the edge
  /// problem. Throws Error if the buffers or the reference fail.
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

/// The message for a target whose default configuration fails on the edge problem.
std::string edge_complaint(const Target& target, const Verdict& verdict);

}  // namespace autotune
