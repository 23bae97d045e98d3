// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/counters_table.hpp"

#include <algorithm>

#include "tuner/report/html.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune::report {
namespace {

constexpr std::string_view kHeading = "<h4>Counted by the hardware</h4>\n";

bool is_counted(const Finalist& one) { return !one.counters.empty(); }

std::string title_of(const Finalist& one) {
  return one.role == "tie" ? "tie " + one.configuration : one.role;
}

/// `DRAM and stalls of the best`.
std::vector<std::string> missing_in(const Finalist& one) {
  std::vector<std::string> names;
  for (const CountedLine& line : counted_lines(one.counters, one.expected)) {
    const bool is_missing = line.counted.empty() && line.name != "intensity";
    if (is_missing) names.push_back(line.name);
  }
  return names;
}

std::string missing_sentence(const std::vector<Finalist>& finalists) {
  std::vector<std::string> parts;
  for (const Finalist& one : finalists) {
    if (!is_counted(one)) {
      parts.push_back(title_of(one));
      continue;
    }
    const auto names = missing_in(one);
    if (!names.empty()) parts.push_back(format("{} of {}", joined(names, ", "), title_of(one)));
  }
  if (parts.empty()) return "";
  return format("<p>Not counted: {}.</p>\n", html_text(joined(parts, "; ")));
}

/// One row per figure, with the counted and the expected value of each finalist.
std::string table_of(const std::vector<const Finalist*>& finalists) {
  std::vector<std::string> heads{"figure"};
  std::vector<std::vector<Cell>> rows;
  for (const Finalist* one : finalists) {
    heads.push_back(title_of(*one));
    heads.emplace_back("expected");
    const auto lines = counted_lines(one->counters, one->expected);
    rows.resize(lines.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (rows[i].empty()) rows[i].push_back({lines[i].name});
      rows[i].push_back({lines[i].counted});
      rows[i].push_back({lines[i].counted.empty() ? "" : lines[i].expected});
    }
  }
  std::erase_if(rows, [](const std::vector<Cell>& row) {
    return std::all_of(row.begin() + 1, row.end(),
                       [](const Cell& cell) { return cell.text.empty(); });
  });
  return "<div class=\"counters\">\n" + html_table(heads, rows) + "</div>\n";
}

}  // namespace

std::string counters_table(const ReportedProblem& problem) {
  if (problem.finalists.empty()) return "";
  std::vector<const Finalist*> counted;
  for (const Finalist& one : problem.finalists) {
    if (is_counted(one)) counted.push_back(&one);
  }
  if (counted.empty()) {
    return std::string(kHeading) +
           "<p>Nothing was counted. <code>autotune explain --counters</code> on this GPU counts "
           "the "
           "finalists.</p>\n";
  }
  const Finalist& first = *counted.front();
  return std::string(kHeading) + table_of(counted) +
         format(
             "<p>One call, apart from all times; rates are those of the measured time. {}, {} "
             "UTC.</p>\n",
             html_text(first.environment), html_text(first.counted_at.substr(0, 16))) +
         missing_sentence(problem.finalists);
}

}  // namespace autotune::report
