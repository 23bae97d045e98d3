// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/legality.hpp"

namespace autotune {

bool is_legal(const Target& target, const Problem& problem, std::string_view text,
              const DeviceInfo& device) noexcept try {
  return is_valid(target, problem, parse_named_values(text), device);
} catch (...) {
  return false;
}

}  // namespace autotune
