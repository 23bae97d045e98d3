// SPDX-License-Identifier: Apache-2.0
// Texts and tables of HTML. Whatever a text holds, it stays text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"

namespace autotune::report {

/// The text for elements and for attributes in quotes: printable(), with `<`, `>`, `&`, `"` and `'`
/// as entities.
std::string html_text(std::string_view text);

/// JSON for the inside of a `<script>`: ASCII, and no `<`, so that nothing in it can end the
/// element.
std::string script_json(const Json& json);

struct Cell {
  std::string text;
  std::string sort_key = {};  // a number; empty: sorted by its text
};

/// A table; with `is_sortable`, the script sorts it by the column whose head is pressed. Columns
/// whose texts are all empty are left out.
std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<Cell>>& rows, bool is_sortable = false);

}  // namespace autotune::report
