// SPDX-License-Identifier: Apache-2.0
#include "tuner/interchange/unfinished_json.hpp"

#include <optional>

#include "tuner/core/error.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Nesting depth of the members of `cache`, which is a member of the document.
constexpr int kMemberDepth = 2;

/// The end of the string that begins at `at`; the end of the text if it is not terminated.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

/// The end of the last complete object that is a member of `cache`. The whole text if there is none
/// yet; nullopt if the document is complete.
std::optional<std::size_t> end_of_members(std::string_view text) {
  std::size_t end = text.size();
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '"') at = end_of_string(text, at);
    if (letter == '{' || letter == '[') ++depth;
    if (letter != '}' && letter != ']') continue;
    --depth;
    if (letter == '}' && depth == kMemberDepth) end = at + 1;
    if (depth <= 0) return std::nullopt;
  }
  return end;
}

}  // namespace

UnfinishedJson parse_unfinished_json(std::string_view text, std::string_view file) {
  try {
    return {parse_json(text, file)};
  } catch (const Error&) {
    const std::optional<std::size_t> end = end_of_members(text);
    if (!end) throw;
    const std::string_view rest = trimmed(text.substr(*end));
    const bool is_cut_off = !rest.empty() && rest != "," && rest != "}";
    const std::string closed = std::string(text.substr(0, *end)) + "}}";
    try {
      return {parse_json(closed, file), is_cut_off};
    } catch (const Error&) {  // not merely truncated: report the first error
    }
    throw;
  }
}

}  // namespace autotune
