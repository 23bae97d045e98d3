// SPDX-License-Identifier: Apache-2.0
// Validity of many configurations at the sizes of one problem.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "tuner/core/name_table.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

// One object for each family of a target, made at first use. In it, the family parameter is a
// constant, so that expressions of other families are folded away.

/// A target without families counts as one family. Thread-safe.
template <class T>
class PerFamily {
 public:
  explicit PerFamily(const Target& target)
      : parameter_(target.family),
        count_(parameter_ ? target.parameters[*parameter_].values.size() : 1),
        families_(std::make_unique<Family[]>(count_)) {}

  std::size_t count() const { return count_; }
  std::size_t index_of(std::span<const std::uint16_t> levels) const {
    return parameter_ ? levels[*parameter_] : 0;
  }
  /// The level that the family's name table treats as a constant.
  std::optional<FixedLevel> fixed(std::size_t index) const {
    if (!parameter_) return std::nullopt;
    return FixedLevel{*parameter_, static_cast<std::uint16_t>(index)};
  }
  /// `make(optional)` sets the object of a family that is asked for the first time.
  template <class Make>
  const T& at(std::size_t index, const Make& make) const {
    Family& family = families_[index];
    std::call_once(family.is_made, [&] { make(family.value); });
    return *family.value;
  }

 private:
  struct Family {
    std::once_flag is_made;
    std::optional<T> value;
  };

  std::optional<std::size_t> parameter_;
  std::size_t count_;
  std::unique_ptr<Family[]> families_;
};

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
