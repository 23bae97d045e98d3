// SPDX-License-Identifier: Apache-2.0
// The values of a parameter or a setting, as a manifest lists them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/target/node.hpp"
#include "tuner/target/statements.hpp"

namespace autotune {

/// "word", "real number" or "integer".
const char* kind_of(const Value& value);
/// The values of a list: numbers only or words only, without repetition. If one number is real, all
/// become real. `name` is for messages.
std::vector<Value> listed_values(const Node& node, const std::string& name);
/// The words of a list of any texts. A text that is no word, such as `unsigned int`, gets one,
/// `unsigned_int`, and is added to `texts`.
std::vector<Value> listed_texts(const Node& node, const std::string& name, WordTexts& texts);
inline constexpr std::size_t kMostValues = 65535;

/// Whether it is a range in one text: `"1..N"`.
bool is_interval(const Node& node);
/// The numbers of `{ from = 1, to = 64, factor = 2 }`, or with `step`, or of an interval. At most
/// kMostValues. Of a range with a sized_end(), the first so many.
std::vector<Value> ranged_values(const Node& node);
/// The end of a range, if it is an expression: `{ from = 1, to = "N", step = 1 }`, `"1..N"`.
std::optional<Excerpt> sized_end(const Node& range);
/// Whether the values are put into the source as text: `as = "text"`.
bool is_text(const Node& node);
/// Whether all are names of element types.
bool is_typed(const std::vector<Value>& values);
/// The form by the key `as` of a table with `values`: "text" or "type"; number without the key.
WordForm form_of(const Node& node, const std::vector<Value>& values);

}  // namespace autotune
