// SPDX-License-Identifier: Apache-2.0
// The values of a parameter or a setting, as a manifest lists them.
#pragma once

#include <string>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

/// "word", "real number" or "integer".
const char* kind_of(const Value& value);
/// The values of a list: numbers only or words only, without repetition. If one number is real, all
/// become real. `name` is for messages.
std::vector<Value> listed_values(const Node& node, const std::string& name);
/// The words of a list of any texts. A text that is no word, such as `unsigned int`, gets one,
/// `unsigned_int`, and is added to `texts`.
std::vector<Value> listed_texts(const Node& node, const std::string& name, WordTexts& texts);
/// The numbers of `{ from = 1, to = 64, factor = 2 }`, or with `step`; at most 65535. Where it
/// ends_by_problem(), the first 65535.
std::vector<Value> ranged_values(const Node& node);
/// Whether the end of a range is an expression: `{ from = 1, to = "N", step = 1 }`.
bool ends_by_problem(const Node& range);
/// Whether the values are put into the source as text: `as = "text"`.
bool is_text(const Node& node);
/// Whether all are names of element types.
bool is_typed(const std::vector<Value>& values);
/// The form by the key `as` of a table with `values`: "text" or "type"; number without the key.
WordForm form_of(const Node& node, const std::vector<Value>& values);

}  // namespace autotune
