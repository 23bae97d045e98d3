// SPDX-License-Identifier: Apache-2.0
// Validity of many configurations at the sizes of one problem.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/per_family.hpp"

namespace autotune {

/// The constraints of a target for problems of any size. Thread-safe.
class SizedValidity {
 public:
  /// The arguments must outlive it. Throws Error for a name that is not bound.
  SizedValidity(const Target& target, const Problem& problem, const DeviceInfo& device);

  /// Makes the families now, so that the first question takes no longer than others.
  void prepare() const;

 private:
  friend class ValidityAt;

  /// A condition and the definitions that it needs beyond those of the steps before.
  struct Step {
    Schedule definitions;
    Formula condition;
    std::optional<std::size_t> parameter = {};  // whose values but the first need the condition
  };
  struct Family {
    Family(const SizedValidity& of, std::optional<FixedLevel> fixed);
    void add(const Formula& condition, std::optional<std::size_t> parameter);

    NameTable names;
    Schedule of_sizes;                   // definitions that depend on sizes alone
    std::vector<Formula> preconditions;  // that depend on sizes alone
    std::vector<std::size_t> unused;     // parameters without meaning in this family
    std::vector<Step> steps;
    Schedule known = {};  // definitions of all steps so far
  };
  const Family& family(std::size_t index) const;

  const Target& target_;
  const Problem& problem_;
  const DeviceInfo& device_;
  PerFamily<Family> families_;
};

/// Computes what depends on the sizes once. Not thread-safe.
class ValidityAt {
 public:
  /// The arguments must outlive it.
  ValidityAt(const SizedValidity& validity, std::span<const std::int64_t> sizes)
      : validity_(&validity), sizes_(sizes), families_(validity.families_.count()) {}

  /// TargetProgram::is_valid(), but false where a constraint cannot be evaluated. Stops at the
  /// first condition that does not hold.
  bool operator()(std::span<const std::uint16_t> levels);

 private:
  struct Family {
    const SizedValidity::Family* rules = nullptr;
    Slots slots;
    bool is_possible = false;
  };
  Family& family(std::size_t index);

  const SizedValidity* validity_;
  std::span<const std::int64_t> sizes_;
  std::vector<Family> families_;  // empty until they are asked for
};

}  // namespace autotune
