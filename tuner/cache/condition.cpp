// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/condition.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

using Number = std::optional<std::int64_t>;

constexpr int kDeepestMacro = 32;          // of macros in macros
constexpr std::size_t kMostTokens = 4096;  // of an expanded condition

bool is_name(std::string_view token) {
  return is_in_identifier(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0;
}

/// Splits a condition into names, numbers and operators. Other characters are tokens that no rule
/// accepts.
std::vector<std::string> tokens_of(std::string_view text) {
  static constexpr std::array<std::string_view, 8> kPairs{
      "&&", "||", "==", "!=", "<=", ">=", "<<", ">>"};
  std::vector<std::string> tokens;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 1;
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    if (is_in_identifier(text[at])) {
      while (at + length < text.size() && is_in_identifier(text[at + length])) ++length;
    }
    for (const std::string_view pair : kPairs) {
      if (text.substr(at).starts_with(pair)) length = 2;
    }
    tokens.emplace_back(text.substr(at, length));
    at += length;
  }
  return tokens;
}

/// A number, or `?` for what is unknown.
std::string number_text(std::optional<bool> value) { return !value ? "?" : *value ? "1" : "0"; }

/// Replaces macros by their text, `defined` by its result, and other names by 0.
void expand(std::vector<std::string>& out, const std::vector<std::string>& tokens,
            const MacroTable& macros, int depth) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (out.size() >= kMostTokens) return out.emplace_back("?"), void();
    const std::string& token = tokens[i];
    if (token == "defined") {
      const bool in_brackets = i + 1 < tokens.size() && tokens[i + 1] == "(";
      const std::size_t name = i + (in_brackets ? 2 : 1);
      if (name >= tokens.size()) return out.emplace_back("?"), void();
      out.push_back(number_text(macros.is_defined(tokens[name])));
      i = name + (in_brackets ? 1 : 0);
      continue;
    }
    if (!is_name(token)) {
      out.push_back(token);
    } else if (const auto known = macros.known.find(token);
               known != macros.known.end() && depth < kDeepestMacro) {
      expand(out, tokens_of(known->second), macros, depth + 1);
    } else if (token == "true" || token == "false") {
      out.emplace_back(token == "true" ? "1" : "0");
    } else {
      out.emplace_back(macros.is_defined(token) == false ? "0" : "?");
    }
  }
}

/// Evaluates tokens. A result is unknown only if it depends on an unknown value.
class Evaluation {
 public:
  explicit Evaluation(std::vector<std::string> tokens) : tokens_(std::move(tokens)) {
    has_unsigned_ = std::ranges::any_of(tokens_, [](const std::string& token) {
      return std::isdigit(static_cast<unsigned char>(token[0])) != 0 &&
             token.find_first_of("uU") != std::string::npos;
    });
  }

  Number value() {
    const Number value = binary(0);
    return is_bad_ || at_ != tokens_.size() ? std::nullopt : value;
  }

 private:
  std::string_view here() const { return at_ < tokens_.size() ? tokens_[at_] : std::string_view(); }
  bool take(std::string_view token) {
    if (here() != token) return false;
    ++at_;
    return true;
  }

  static int rank(std::string_view token) {
    static constexpr std::array<std::string_view, 16> kOperators{
        "||", "&&", "|", "^", "&", "==", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"};
    static constexpr std::array<int, 16> kRanks{1, 2, 3, 4, 5, 6, 6, 7, 7, 7, 7, 8, 8, 9, 9, 9};
    for (std::size_t i = 0; i < kOperators.size(); ++i) {
      if (kOperators[i] == token) return kRanks[i];
    }
    return 0;
  }

  Number binary(int least) {
    Number left = unary();
    for (int found = rank(here()); found > least; found = rank(here())) {
      const std::string_view sign = tokens_[at_++];
      left = applied(sign, left, binary(found));
    }
    return left;
  }

  Number unary() {
    if (take("!")) {
      const Number value = unary();
      return value ? Number(*value == 0) : value;
    }
    if (take("-")) {
      const Number value = unary();
      return value ? Number(-*value) : value;
    }
    if (take("(")) {
      const Number value = binary(0);
      is_bad_ = is_bad_ || !take(")");
      return value;
    }
    if (at_ >= tokens_.size()) return is_bad_ = true, std::nullopt;
    const std::string& token = tokens_[at_++];
    if (token == "?") return std::nullopt;
    char* end = nullptr;
    errno = 0;
    const std::int64_t number = std::strtoll(token.c_str(), &end, 0);
    const std::string_view suffix = end;
    is_bad_ = is_bad_ || end == token.c_str() || errno == ERANGE ||
              suffix.find_first_not_of("uUlL") != std::string_view::npos;
    return number;
  }

  /// Unknown if negative and unsigned numbers may meet: `-1 > 0u` holds.
  Number applied(std::string_view sign, Number left, Number right) const {
    const Number result = applied_to_signed(sign, left, right);
    const auto is_negative = [](Number number) { return number && *number < 0; };
    const bool may_differ = is_negative(left) || is_negative(right) || is_negative(result);
    return has_unsigned_ && may_differ ? std::nullopt : result;
  }

  static Number applied_to_signed(std::string_view sign, Number left, Number right) {
    if (sign == "&&" || sign == "||") {
      const bool decisive = sign == "||";  // a side with this value decides
      if (left && (*left != 0) == decisive) return decisive;
      if (right && (*right != 0) == decisive) return decisive;
      return left && right ? Number(!decisive) : std::nullopt;
    }
    if (!left || !right) return std::nullopt;
    const std::int64_t a = *left, b = *right;
    if (sign == "==") return a == b;
    if (sign == "!=") return a != b;
    if (sign == "<") return a < b;
    if (sign == ">") return a > b;
    if (sign == "<=") return a <= b;
    if (sign == ">=") return a >= b;
    if (sign == "|") return a | b;
    if (sign == "^") return a ^ b;
    if (sign == "&") return a & b;
    if (sign == "/" || sign == "%") {
      if (b == 0 || b == -1) return std::nullopt;
      return sign == "/" ? a / b : a % b;
    }
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(sign == "+" ? x + y : sign == "-" ? x - y : x * y);
  }

  const std::vector<std::string> tokens_;
  std::size_t at_ = 0;
  bool is_bad_ = false;
  bool has_unsigned_ = false;
};

}  // namespace

std::optional<bool> MacroTable::is_defined(std::string_view name) const {
  if (known.find(name) != known.end()) return true;
  if (name.starts_with("AUTOTUNE_")) return false;  // defined by the host device only
  if (unknown.find(name) != unknown.end() || others_unknown || name.starts_with("__")) {
    return std::nullopt;
  }
  return false;
}

std::optional<bool> condition(std::string_view expression, const MacroTable& macros) {
  std::vector<std::string> tokens;
  expand(tokens, tokens_of(expression), macros, 0);
  const Number value = Evaluation(std::move(tokens)).value();
  return value ? std::optional(*value != 0) : std::nullopt;
}

}  // namespace autotune
