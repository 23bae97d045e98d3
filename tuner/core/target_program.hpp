// SPDX-License-Identifier: Apache-2.0
// A target compiled for one problem on one device. All expressions share one table of names. What
// does not depend on parameters or given sizes is computed once.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

class LaunchPlanner;
class SourceWriter;

/// Whether sizes are fixed at compilation or given with each call.
enum class SizeBinding : std::uint8_t { fixed, given };

/// The names of a target's expressions. Buffers, scalars, tensor maps and textures are their
/// numbers: those of `arguments`, then `workspace`, then `tensor_maps`, then `textures`.
NameTable name_table_of(const Target& target, std::span<const Parameter> parameters,
                        const Problem& problem, const DeviceInfo& device, SizeBinding sizes,
                        std::optional<FixedLevel> fixed = std::nullopt);

/// Thread-safe. Levels are those of the target's parameters, in their order.
class TargetProgram {
 public:
  /// The target must outlive it. With given sizes those of `problem` do not matter. Throws Error
  /// for a name that is bound nowhere.
  TargetProgram(const Target& target, const Problem& problem, const DeviceInfo& device,
                SizeBinding sizes = SizeBinding::fixed);
  ~TargetProgram();
  TargetProgram(const TargetProgram&) = delete;
  TargetProgram& operator=(const TargetProgram&) = delete;

  /// The levels of a configuration. Throws Error where it is none of the target's.
  Levels levels(const Configuration& configuration) const;

  /// Whether space_of() would hold it. Throws ExpressionError where a constraint cannot be
  /// evaluated and no other one is 0.
  bool is_valid(std::span<const std::uint16_t> levels,
                std::span<const std::int64_t> sizes = {}) const;

  // With fixed sizes, as the functions of these names in target.hpp:
  LaunchPlan plan(std::span<const std::uint16_t> levels) const;
  SourceUnit source_unit(std::span<const std::uint16_t> levels) const;
  std::vector<BufferSpec> buffers() const;
  std::vector<Scalar> scalars() const;
  Work work() const;
  /// Of the reference kernels, which may name parameters.
  LaunchPlan reference_plan(std::span<const std::uint16_t> levels) const;
  /// Of the prepare kernels; empty without any.
  LaunchPlan preparation(std::span<const std::uint16_t> levels) const;
  /// Whether each parameter means something.
  std::vector<bool> active(std::span<const std::uint16_t> levels) const;
  /// The target's estimates before compiling, where it gives them. Throws Error.
  struct Estimates {
    std::optional<std::int64_t> registers, shared_bytes;
  };
  Estimates estimates(std::span<const std::uint16_t> levels) const;

 private:
  struct FamilyPlans;

  const LaunchPlanner& planner_of(std::span<const std::uint16_t> levels) const;
  Slots slots(std::span<const std::uint16_t> levels, const Schedule& schedule) const {
    return names_.slots(levels, {}, schedule);
  }
  const Target& target_;
  Problem problem_;
  DeviceInfo device_;
  NameTable names_;
  std::vector<std::optional<Formula>> whens_;
  std::vector<Formula> constraints_;
  std::optional<Formula> registers_, shared_bytes_, flops_, bytes_;
  Schedule validity_, activity_, estimates_;
  std::unique_ptr<const LaunchPlanner> planner_;
  std::unique_ptr<FamilyPlans[]> families_;  // one a family, made when it is first asked for
  std::unique_ptr<const SourceWriter> writer_;
};

}  // namespace autotune
