// SPDX-License-Identifier: Apache-2.0
// JSON that its writer did not finish: Kernel Tuner appends to its cache while it runs.
#pragma once

#include <string>
#include <string_view>

#include "tuner/json/json.hpp"

namespace autotune {

struct UnfinishedJson {
  Json json;
  bool is_cut_off = false;  // a part of a member was left out
};

/// Reads JSON. If its end is missing, reads the complete members of the object in which it ends,
/// `{"cache": {` of a Kernel Tuner cache. Throws Error with file, line and column.
UnfinishedJson parse_unfinished_json(std::string_view text, std::string_view file);

}  // namespace autotune
