// SPDX-License-Identifier: Apache-2.0
// The section of one problem: text and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/json/json.hpp"
#include "tuner/records/records.hpp"
#include "tuner/report/report.hpp"

namespace autotune::report {

// Escaped texts and tables in HTML.

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

/// A value that is more frequent among trials of one reason than among all.
struct Shared {
  std::string parameter, value;
  double share = 0;  // of the reason's trials
  double lift = 0;   // that share over the share of all trials
};

struct Failure {
  Reason reason;
  std::vector<Shared> shared;  // greatest lift first; at most three
};

/// Most frequent reason first.
std::vector<Failure> failures_of(const std::vector<db::TrialRow>& trials);

/// `place` is the problem's in the report; the script shows one at a time.
std::string problem_section(const ReportedProblem& problem, std::size_t place);

}  // namespace autotune::report
