// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_helper.hpp"

#include "tuner/text/format.hpp"

namespace autotune {

std::string stays_apart_text(const std::string& label, double ratio, const std::string& problem) {
  return format(
      "{} takes {:.3g} times as long as another device for the default configuration of {}: it "
      "tunes its own problems and helps with no others",
      label, ratio, problem);
}

}  // namespace autotune
