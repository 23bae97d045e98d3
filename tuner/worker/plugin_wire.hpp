// SPDX-License-Identifier: Apache-2.0
// Messages between a plugin's process and its parent, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/search_task.hpp"

namespace autotune {

Json wire_of(const PluginDescription& description);
PluginDescription plugin_description_of(const Json& json);

/// The levels and predictions follow the message as raw bytes.
Json wire_of(const SearchTask& task);
std::string bytes_of(const SearchTask& task);
SearchTask search_task_of(const Json& json, const std::string& bytes);

Json wire_of(const std::vector<Evaluation>& evaluations);
std::vector<Evaluation> evaluations_of(const Json& json);

/// The configurations that a plugin requests, below `size`; nullopt when its search has ended.
/// Throws Error.
std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size);

}  // namespace autotune
