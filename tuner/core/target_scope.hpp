// SPDX-License-Identifier: Apache-2.0
// The names that a target's expressions see, and errors that say where. Used by tuner/core only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tuner/core/target.hpp"

namespace autotune {

/// A target's names for one problem and, when given, one configuration.
class TargetScope {
 public:
  TargetScope(const Target& target, const Problem& problem, const DeviceInfo& device,
              const Configuration* configuration = nullptr);

  const Target& target() const { return target_; }
  const DeviceInfo& device() const { return device_; }
  const Scope& scope() const { return scope_; }

  /// Throws Error with the manifest, `key` (`kernels[0].grid[1]`) and the column.
  std::int64_t evaluate(const std::string& key, const Expression& expression) const;
  /// The same, and refuses values below `least`.
  std::int64_t at_least(std::int64_t least, const std::string& key,
                        const Expression& expression) const;
  /// True without a condition.
  bool holds(const std::string& key, const std::optional<Expression>& condition) const;
  /// An element type by its name or by the setting that holds it.
  ElementType type(const std::string& key, const std::string& name) const;
  /// The value of a size, setting or parameter, nullptr where there is none.
  const Value* find(const std::string& name) const;

  [[noreturn]] void fail(const std::string& key, const std::string& what) const;

 private:
  const Target& target_;
  const DeviceInfo& device_;
  NamedValues values_;
  Scope scope_;
};

}  // namespace autotune
