// SPDX-License-Identifier: Apache-2.0
// Whether single configurations are valid, without building a space.
#pragma once

#include "tuner/core/formula.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// The constraints of a target with a problem's settings on one device. Thread-safe.
class Validity {
 public:
  /// With given sizes those of `problem` do not matter. Throws Error for a name that is bound
  /// nowhere.
  Validity(const Target& target, const Problem& problem, const DeviceInfo& device,
           SizeBinding sizes = SizeBinding::fixed);

  /// Whether space_of() would hold it. Throws ExpressionError.
  bool operator()(std::span<const std::uint16_t> levels,
                  std::span<const std::int64_t> sizes = {}) const;

 private:
  struct When {
    std::size_t parameter = 0;
    Formula holds;
  };

  Binding binding_;
  std::vector<When> whens_;
  std::vector<Formula> constraints_;
};

}  // namespace autotune
