// SPDX-License-Identifier: Apache-2.0
// How well a search worked, as text and as JSON, with advice.
#pragma once

#include <string>

#include "tuner/json/json.hpp"
#include "tuner/session/search_health.hpp"

namespace autotune::cli {

/// For explain: one fact a line, advice below it.
std::string health_text(const SearchHealth& health);

/// For tune: a line for each sign that the search is failing; empty if there is none.
std::string lost_text(const SearchHealth& health);

Json json_of(const SearchHealth& health);

}  // namespace autotune::cli
