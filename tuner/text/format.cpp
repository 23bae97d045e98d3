// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/format.hpp"

namespace autotune {

std::string formatted(fmt::string_view text, fmt::format_args values) {
  return fmt::vformat(text, values);
}

}  // namespace autotune
