// SPDX-License-Identifier: Apache-2.0
// Escaped texts and tables in HTML.
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
  bool is_doubt = false;      // shown in red
};

/// A table. With `is_sortable`, a click on a column's head sorts by it, many rows come in pages,
/// and each row is a card on a narrow screen. Columns whose texts are all empty are left out.
std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<Cell>>& rows, bool is_sortable = false);

}  // namespace autotune::report
