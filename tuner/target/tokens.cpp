// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/tokens.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>

#include "tuner/target/usual_names.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::array<std::string_view, 24> kOperators = {
    "<<<", ">>>", "<<=", ">>=", "->", "::", "<=", ">=", "==", "!=", "&&", "||",
    "+=",  "-=",  "*=",  "/=",  "%=", "&=", "|=", "^=", "++", "--", "<<", ">>"};

}  // namespace

Tokens tokens_of(std::string_view code) {
  Tokens tokens;
  while (!(code = trimmed(code)).empty()) {
    std::size_t length = 1;
    if (is_in_identifier(code[0])) {
      const bool is_number = is_digit(code[0]);
      const auto belongs = [&](std::size_t at) {
        const bool is_sign = code[at] == '-' || code[at] == '+';  // of 1e-8f
        const bool has_exponent = is_sign && std::tolower(code[at - 1]) == 'e' && code[1] != 'x';
        return is_in_identifier(code[at]) || (is_number && (code[at] == '.' || has_exponent));
      };
      while (length < code.size() && belongs(length)) ++length;
    } else {
      const auto known = std::ranges::find_if(
          kOperators, [&](std::string_view each) { return code.starts_with(each); });
      if (known != kOperators.end()) length = known->size();
    }
    tokens.emplace_back(code.substr(0, length));
    code.remove_prefix(length);
  }
  return tokens;
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_number(const std::string& text) {
  return text.find_first_not_of("0123456789") == std::string::npos;
}

bool is_name(const std::string& token) {
  return !token.empty() && is_in_identifier(token.front()) && !is_digit(token.front());
}

Tokens part_of(const Tokens& tokens, std::size_t from, std::size_t to) {
  to = std::min(to, tokens.size());
  if (from >= to) return {};
  return {tokens.begin() + static_cast<std::ptrdiff_t>(from),
          tokens.begin() + static_cast<std::ptrdiff_t>(to)};
}

std::string text_of(const Tokens& tokens) {
  static const std::set<std::string> kBinary = {"+",  "-",  "*",  "/",  "%", "<", ">", "<=", ">=",
                                                "==", "!=", "&&", "||", "?", ":", "&", "|",  "^"};
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool spaced =
        i > 0 && (kBinary.contains(tokens[i]) || kBinary.contains(tokens[i - 1]) ||
                  tokens[i - 1] == "," || (is_name(tokens[i]) && is_name(tokens[i - 1])));
    if (spaced) text += ' ';
    text += tokens[i];
  }
  return text;
}

std::string factor_of(const std::string& text) {
  return text.find(' ') == std::string::npos ? text : "(" + text + ")";
}

std::size_t closing(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    const std::string& each = tokens[i];
    if (each == "(" || each == "[" || each == "{") ++depth;
    if ((each == ")" || each == "]" || each == "}") && --depth == 0) return i;
  }
  return tokens.size();
}

std::vector<Tokens> split_tokens(const Tokens& tokens, std::string_view separator) {
  std::vector<Tokens> parts(1);
  int depth = 0;
  for (const std::string& each : tokens) {
    if (each == "(" || each == "[" || each == "{") ++depth;
    if (each == ")" || each == "]" || each == "}") --depth;
    if (depth == 0 && each == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(each);
    }
  }
  return parts;
}

std::vector<Summand> summands_of(const Tokens& sum) {
  std::vector<Summand> terms(1);
  int depth = 0;
  for (const std::string& each : sum) {
    if (each == "(" || each == "[") ++depth;
    if (each == ")" || each == "]") --depth;
    const bool is_sign = depth == 0 && (each == "+" || each == "-");
    if (is_sign && !terms.back().tokens.empty()) {
      terms.push_back({{}, each == "+"});
    } else if (!is_sign) {
      terms.back().tokens.push_back(each);
    }
  }
  return terms;
}

std::optional<std::int64_t> integer_of(const std::string& token) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(token.data() + token.size() - end));
  if (error != std::errc() || rest.find_first_not_of("uUlL") != std::string_view::npos) {
    return std::nullopt;
  }
  return value;
}

bool contains(const Tokens& tokens, std::string_view token) {
  return position(tokens, token) < tokens.size();
}

bool contains(const Tokens& tokens, const Tokens& sequence) {
  return std::search(begin(tokens), end(tokens), begin(sequence), end(sequence)) != end(tokens);
}

std::size_t position(const Tokens& tokens, std::string_view token, std::size_t from) {
  const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(std::min(from, tokens.size()));
  return static_cast<std::size_t>(std::find(begin, tokens.end(), token) - tokens.begin());
}

std::size_t closing_angle(const Tokens& tokens, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < tokens.size(); ++i) {
    if (tokens[i] == "(") i = closing(tokens, i);
    if (i >= tokens.size()) break;
    if (tokens[i] == "<") ++depth;
    if (tokens[i] == ">") --depth;
    if (tokens[i] == ">>") depth -= 2;
    if (depth <= 0) return i;
  }
  return tokens.size();
}

Tokens operand(const Tokens& tokens, std::size_t from) {
  static const std::set<std::string> kEnds = {")", "&&", "||", ";", "?", ",", "]", "}", ":"};
  std::size_t at = from;
  while (at < tokens.size() && !kEnds.contains(tokens[at])) {
    at = tokens[at] == "(" || tokens[at] == "[" ? closing(tokens, at) + 1 : at + 1;
  }
  return part_of(tokens, from, at);
}

namespace {

/// Whether an operand begins there: behind `(index_t)`, which is a cast then.
bool is_operand(const std::string& token) {
  return token == "(" || is_in_identifier(token.front());
}

}  // namespace

Tokens bare(Tokens tokens) {
  while (tokens.size() > 2 && (tokens[0] == "(" || tokens[0] == "static_cast")) {
    const bool is_static = tokens[0] == "static_cast";
    const std::size_t end = is_static ? position(tokens, ">") : closing(tokens, 0);
    if (!is_static && end + 1 == tokens.size()) {
      tokens = part_of(tokens, 1, end);
    } else if (!type_name(text_of(part_of(tokens, is_static ? 2 : 1, end))).empty() ||
               (!is_static && end == 2 && is_name(tokens[1]) && is_operand(tokens[3]))) {
      tokens = part_of(tokens, end + 1, tokens.size());
    } else {
      break;
    }
  }
  return tokens;
}

Tokens parenthesized(const Tokens& tokens) {
  Tokens all = {"("};
  all.insert(all.end(), tokens.begin(), tokens.end());
  all.emplace_back(")");
  return all;
}

std::vector<Tokens> items_in(const Tokens& tokens, std::size_t open) {
  const bool is_angle = open < tokens.size() && tokens[open] == "<";
  const std::size_t end = is_angle ? closing_angle(tokens, open) : closing(tokens, open);
  return split_tokens(part_of(tokens, open + 1, end), ",");
}

void append(Tokens& tokens, const Tokens& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
}

void replace(Tokens& tokens, std::size_t from, std::size_t to, const Tokens& by) {
  const auto at = tokens.begin() + static_cast<std::ptrdiff_t>(from);
  tokens.erase(at, tokens.begin() + static_cast<std::ptrdiff_t>(std::min(to, tokens.size())));
  tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(from), by.begin(), by.end());
}

}  // namespace autotune
