// SPDX-License-Identifier: Apache-2.0
// An explanation as text and as JSON.
#pragma once

#include <string>

#include "tuner/json/json.hpp"
#include "tuner/session/explanation.hpp"

namespace autotune::cli {

std::string explanation_text(const Explanation& explanation);
Json explanation_json(const Explanation& explanation);

}  // namespace autotune::cli
