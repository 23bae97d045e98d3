// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/directives.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "tuner/cache/logical_lines.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::string_view kBlank = " \t\r\v\f";

std::string_view without_leading_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(kBlank);
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// Removes the identifier at the front, with the blanks after it, and returns it.
std::string_view take_word(std::string_view& text) {
  const std::string_view word = take_identifier(text);
  text = without_leading_blanks(text);
  return word;
}

template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Removes `#` or `%:` at the front.
bool take_hash(std::string_view& line) {
  line = without_leading_blanks(line);
  const std::size_t length = line.starts_with('#') ? 1 : line.starts_with("%:") ? 2 : 0;
  line = without_leading_blanks(line.substr(length));
  return length > 0;
}

/// The name in `#include "name"` or `#include <name>`; an empty one in any other line.
HeaderName plain_name(std::string_view line) {
  line = without_leading_blanks(line);
  if (!line.starts_with('#')) return {};
  line = without_leading_blanks(line.substr(1));
  if (!line.starts_with("include")) return {};
  return header_name(without_leading_blanks(line.substr(7)));
}

void note(std::vector<HeaderName>& names, HeaderName name) {
  if (!name.name.empty()) names.push_back(std::move(name));
}

void read_included(std::string_view word, std::string_view operand, Directives& directives) {
  HeaderName name = header_name(operand);
  if (name.name.empty()) {
    directives.has_computed = true;
  } else if (word == "include_next") {
    directives.next.push_back(std::move(name));
  } else if (std::ranges::find(directives.plain, name) == directives.plain.end()) {
    directives.others.push_back(std::move(name));
  }
}

void read_has_include(std::string_view line, Directives& directives) {
  for (auto at = line.find("__has_include"); at != std::string_view::npos;
       at = line.find("__has_include", at + 1)) {
    const auto open = line.find('(', at);
    if (open == std::string_view::npos) return;
    note(directives.others, header_name(without_leading_blanks(line.substr(open + 1))));
  }
}

void read_directive(std::string_view line, Directives& directives) {
  const std::string_view word = take_word(line);
  if (word == "include" || word == "import" || word == "include_next") {
    read_included(word, line, directives);
  } else if (word == "define") {
    take_word(line);
    note(directives.defined, header_name(line));
  } else if (word == "if" || word == "elif") {
    read_has_include(line, directives);
  }
}

}  // namespace

HeaderName header_name(std::string_view text) {
  if (text.empty() || (text[0] != '"' && text[0] != '<')) return {};
  const auto end = text.find(text[0] == '"' ? '"' : '>', 1);
  if (end == std::string_view::npos) return {};
  return {std::string(text.substr(1, end - 1)), text[0] == '<'};
}

Directives directives_of(std::string_view text) {
  Directives directives;
  for_each_line(text, [&](std::string_view line) { note(directives.plain, plain_name(line)); });
  for (const LogicalLine& logical : logical_lines(text)) {
    std::string_view line = logical.text;
    if (take_hash(line)) read_directive(line, directives);
  }
  return directives;
}

}  // namespace autotune
