// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/html.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::report {
namespace {

std::string_view entity_of(char letter) {
  switch (letter) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

constexpr std::size_t kLongWord = 40;

/// Whether a text has a word so long that the line must break inside it.
bool has_long_word(const std::string& text) {
  std::istringstream words(text);
  return std::any_of(std::istream_iterator<std::string>(words), {},
                     [](const std::string& word) { return word.size() > kLongWord; });
}

/// `head`: shown before the text in a card; empty: never.
std::string cell_html(const Cell& cell, const std::string& head) {
  std::string classes = has_long_word(cell.text) ? "w" : cell.sort_key.empty() ? "" : "n";
  if (cell.is_doubt) classes += classes.empty() ? "doubt" : " doubt";
  std::string attributes = classes.empty() ? "" : format(" class=\"{}\"", classes);
  if (!cell.sort_key.empty()) attributes += format(" data-key=\"{}\"", html_text(cell.sort_key));
  if (!head.empty()) attributes += format(" data-head=\"{}\"", html_text(head));
  std::string text = html_text(cell.text);
  if (const std::size_t interval = text.find(" ["); interval != std::string::npos) {
    text.insert(interval + 1, "<wbr>");
  }
  return format("<td{}>{}</td>", attributes, text);
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string html;
  for (const char letter : printable(text)) {
    const std::string_view entity = entity_of(letter);
    entity.empty() ? html += letter : html += entity;
  }
  return html;
}

std::string script_json(const Json& json) {
  std::string text;
  for (const char letter : json.dump(-1, ' ', true, Json::error_handler_t::replace)) {
    letter == '<' ? text += "\\u003c" : text += letter;
  }
  return text;
}

std::string html_table(const std::vector<std::string>& heads,
                       const std::vector<std::vector<Cell>>& rows, bool is_sortable) {
  const auto is_shown = [&](std::size_t column) {
    return std::ranges::any_of(rows, [&](const auto& row) { return !row[column].text.empty(); });
  };
  std::string html =
      is_sortable ? "<table class=\"sortable\">\n<thead><tr>" : "<table>\n<thead><tr>";
  for (std::size_t c = 0; c < heads.size(); ++c) {
    if (is_shown(c)) html += format("<th scope=\"col\">{}</th>", html_text(heads[c]));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : rows) {
    html += "<tr>";
    for (std::size_t c = 0; c < heads.size(); ++c) {
      if (is_shown(c)) html += cell_html(row[c], is_sortable ? heads[c] : "");
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table>\n";
}

}  // namespace autotune::report
