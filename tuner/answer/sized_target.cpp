// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/sized_target.hpp"

#include "tuner/core/error.hpp"

namespace autotune {

std::optional<Levels> levels_in(const Target& target, std::string_view configuration) try {
  return levels_of(target.parameters, parse_named_values(configuration));
} catch (const Error&) {
  return std::nullopt;
}

bool is_valid(const TargetProgram& program, const Levels& levels,
              std::span<const std::int64_t> sizes) noexcept try {
  return program.is_valid(levels, sizes);
} catch (...) {
  return false;
}

}  // namespace autotune
