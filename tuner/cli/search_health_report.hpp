// SPDX-License-Identifier: Apache-2.0
// How a search went, as text and as JSON, and what to do if it went badly.
#pragma once

#include <string>

#include "tuner/json/json.hpp"
#include "tuner/session/search_health.hpp"

namespace autotune::cli {

/// For explain: one fact a line, advice below it.
std::string health_text(const SearchHealth& health);

/// For tune: a line for each sign that the search is lost; empty if there is none.
std::string lost_text(const SearchHealth& health);

Json json_of(const SearchHealth& health);

}  // namespace autotune::cli
