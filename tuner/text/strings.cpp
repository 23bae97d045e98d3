// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/strings.hpp"

#include <algorithm>

namespace autotune {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kWhiteSpace) - first + 1);
}

std::string lowered(std::string text) {
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

bool is_in_identifier(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view take_identifier(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_in_identifier) - text.begin();
  const std::string_view identifier = text.substr(0, static_cast<std::size_t>(end));
  text.remove_prefix(identifier.size());
  return identifier;
}

std::string_view take_word(std::string_view& text) {
  text = trimmed(text);
  const std::string_view word = take_identifier(text);
  text = trimmed(text);
  return word;
}

std::string_view identifier_at_end(std::string_view text) {
  std::size_t from = text.size();
  while (from > 0 && is_in_identifier(text[from - 1])) --from;
  return text.substr(from);
}

std::string_view after_parentheses(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return text.substr(i + 1);
  }
  return {};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string first_error(std::string_view log) {
  std::string_view first;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() == log.size() ? line.size() : line.size() + 1);
    if (line.find("error") != std::string_view::npos) return std::string(line);
    if (first.empty()) first = line;
  }
  return std::string(first);
}

}  // namespace autotune
