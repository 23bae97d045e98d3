// SPDX-License-Identifier: Apache-2.0
// A target compiled for one problem on one device. All expressions share one table of names. Values
// that do not depend on parameters or given sizes are computed once.
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
class SizedValidity;
class SourceWriter;

/// Whether sizes, free ones included, are fixed at compilation or given with each call. Free sizes
/// may then be left out.
enum class SizeBinding : std::uint8_t { fixed, given };

/// The names of a target's expressions. Buffers, scalars, tensor maps and textures are numbered in
/// the order `arguments`, `workspace`, `tensor_maps`, `textures`.
NameTable name_table_of(const Target& target, std::span<const Parameter> parameters,
                        const Problem& problem, const DeviceInfo& device, SizeBinding sizes,
                        std::optional<FixedLevel> fixed = std::nullopt);

/// Thread-safe. Levels are those of the target's parameters, in their order.
class TargetProgram {
 public:
  /// The target must outlive it. With SizeBinding::given, the sizes of `problem` are not used.
  /// Throws Error for a name that is not bound.
  TargetProgram(const Target& target, const Problem& problem, const DeviceInfo& device,
                SizeBinding sizes = SizeBinding::fixed);
  ~TargetProgram();
  TargetProgram(const TargetProgram&) = delete;
  TargetProgram& operator=(const TargetProgram&) = delete;

  /// The levels of a configuration. Throws Error if it does not belong to the target.
  Levels levels(const Configuration& configuration) const;

  /// Whether the configuration is valid. Throws ExpressionError if a constraint cannot be evaluated
  /// and no other one is 0.
  bool is_valid(std::span<const std::uint16_t> levels,
                std::span<const std::int64_t> sizes = {}) const;

  /// The values of the free sizes, defaults included. Throws Error if a default has none.
  std::vector<std::int64_t> free_values(std::span<const std::int64_t> sizes = {}) const;
  /// A sentence if a free size is below its least, a rule does not hold, or a default is no value
  /// of its parameter; else empty. Throws Error for an expression without a value.
  std::string refusal(std::span<const std::int64_t> sizes = {}) const;

  /// The target's default configurations, in order, valid or not.
  std::vector<Levels> defaults(std::span<const std::int64_t> sizes = {}) const;
  /// Of the sizes of the problem.
  std::optional<Levels> first_valid_default() const;

  /// With given sizes: for ValidityAt.
  const SizedValidity& sized_validity() const { return *sized_validity_; }

  /// Whether each parameter has a meaning in this configuration.
  std::vector<bool> active(std::span<const std::uint16_t> levels,
                           std::span<const std::int64_t> sizes = {}) const;

  // With fixed sizes, as the functions of these names in target.hpp:
  LaunchPlan plan(std::span<const std::uint16_t> levels) const;
  SourceUnit source_unit(std::span<const std::uint16_t> levels) const;
  /// That of the reference, with the macros of this configuration.
  SourceUnit reference_unit(std::span<const std::uint16_t> levels) const;
  std::vector<BufferSpec> buffers() const;
  std::vector<Scalar> scalars() const;
  Work work() const;
  /// The plan of the reference kernels, whose expressions may use parameters.
  LaunchPlan reference_plan(std::span<const std::uint16_t> levels) const;
  /// The plan of the prepare kernels; empty if there are none.
  LaunchPlan preparation(std::span<const std::uint16_t> levels) const;
  /// The target's estimates before compiling; empty if the manifest has none. Throws Error.
  struct Estimates {
    std::optional<std::int64_t> registers, shared_bytes;
  };
  Estimates estimates(std::span<const std::uint16_t> levels) const;

 private:
  struct FamilyPlans;

  const LaunchPlanner& planner_of(std::span<const std::uint16_t> levels) const;
  /// Of a sized default; nullopt if the parameter does not have it.
  std::optional<std::size_t> sized_level(std::size_t index, const Slots& slots) const;
  Value sized_value(std::size_t index, const Slots& slots) const;
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
  std::vector<Formula> free_, least_, rules_;    // of free sizes, and of the problem
  std::vector<std::optional<Levels>> defaults_;  // nullopt: not of the target's values
  std::vector<Formula> sized_defaults_;
  Schedule validity_, activity_, estimates_, free_sizes_;
  std::unique_ptr<const SizedValidity> sized_validity_;
  std::unique_ptr<const LaunchPlanner> planner_;
  std::unique_ptr<FamilyPlans[]> families_;  // one per family, made at first use
  std::unique_ptr<const SourceWriter> writer_;
};

}  // namespace autotune
