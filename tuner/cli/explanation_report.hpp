// SPDX-License-Identifier: Apache-2.0
// An explanation as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/model/coalescing.hpp"
#include "tuner/session/explanation.hpp"

namespace autotune::cli {

/// A line for each access, after `indent`.
std::string traffic_text(const std::vector<KernelTraffic>& traffic, std::string_view indent);
Json traffic_json(const std::vector<KernelTraffic>& traffic);

/// For explain: one fact a line, advice below it.
std::string health_text(const SearchHealth& health);

/// For tune: a line for each sign that the search is failing; empty if there is none.
std::string lost_text(const SearchHealth& health);

Json json_of(const SearchHealth& health);

std::string explanation_text(const Explanation& explanation);
Json explanation_json(const Explanation& explanation);

}  // namespace autotune::cli
