// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/flat_source.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "tuner/cache/directives.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongest = std::uint64_t{16} << 20;
constexpr int kDeepestInclude = 100;
constexpr std::string_view kLicence = "// SPDX-License-Identifier:";

/// The expression of an #if for the same branch.
std::string expression_of(std::string_view word, std::string_view rest) {
  if (word == "else") return "1";
  if (word == "ifdef") return format("defined({})", rest);
  return word == "ifndef" ? format("!defined({})", rest) : std::string(rest);
}

class Flattening {
 public:
  Flattening(std::string_view prelude, std::span<const fs::path> folders) : folders_(folders) {
    for (const std::string_view line : split(prelude, '\n')) {
      std::string_view rest = trimmed(line);
      if (!rest.starts_with("#define ")) continue;
      rest.remove_prefix(8);
      define(rest);
    }
  }

  void add(std::string_view text, const fs::path& folder) {
    if (++depth_ > kDeepestInclude) throw Error("a file includes itself without end");
    const std::vector<LogicalLine> lines = logical_lines(text);
    std::vector<std::string_view> physical = split(text, '\n');
    if (physical.back().empty()) physical.pop_back();  // after the last line break
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto first = static_cast<std::size_t>(lines[i].number - 1);
      const std::size_t next = i + 1 < lines.size()
                                   ? static_cast<std::size_t>(lines[i + 1].number - 1)
                                   : physical.size();
      const std::size_t end = std::min(next, physical.size());
      if (directive(lines[i].text, folder)) continue;
      if (!branches_.is_active()) continue;
      for (std::size_t line = first; line < end; ++line) copy(physical[line]);
    }
    --depth_;
  }

  std::string take() { return std::move(out_); }

 private:
  /// Whether the current branch depends on a condition that only the compiler can evaluate.
  bool is_conditional() const {
    return std::ranges::any_of(branches_.blocks, &Branches::Block::written);
  }

  void write(std::string_view line) { out_ += format("{}\n", line); }

  /// Keeps one licence line, and at most one empty line in a row.
  void copy(std::string_view line) {
    if (line.starts_with(kLicence) && !out_.empty()) return;
    if (trimmed(line).empty() && (out_.empty() || out_.ends_with("\n\n"))) return;
    write(line);
  }

  /// Whether the line needs no copy.
  bool directive(std::string_view rest, const fs::path& folder) {
    const std::string_view word = take_directive(rest);
    if (word.empty()) return false;
    if (word == "endif") write_end();
    if (branches_.follow(word, rest, macros_)) {
      if (word != "endif") write_branch(expression_of(word, rest));
      return true;
    }
    if (!branches_.is_active()) return true;
    if (word == "include") return include(rest, folder), true;
    if (word == "define") define(rest);
    if (word == "undef") undefine(rest);
    return word == "line" || (word == "pragma" && rest == "once");
  }

  void write_branch(const std::string& expression) {
    if (branches_.blocks.empty() || !branches_.is_active()) return;
    Branches::Block& here = branches_.blocks.back();
    if (!here.decided) {
      write(format("#{} {}", here.written ? "elif" : "if", expression));
      here.written = true;
    } else if (here.written) {
      write("#else");
    }
  }

  void write_end() {
    if (!branches_.blocks.empty() && branches_.blocks.back().written) write("#endif");
  }

  void define(std::string_view rest) {
    const std::string name(take_identifier(rest));
    macros_.known.erase(name);
    if (rest.starts_with('(') || is_conditional()) {
      macros_.unknown.insert(name);
    } else {
      macros_.known[name] = std::string(trimmed(rest));
    }
  }

  void undefine(std::string_view name) {
    macros_.known.erase(std::string(name));
    if (is_conditional()) macros_.unknown.insert(std::string(name));
  }

  fs::path found(const HeaderName& header, const fs::path& folder) const {
    std::error_code failed;
    if (!header.angled && fs::exists(folder / header.name, failed)) return folder / header.name;
    for (const fs::path& each : folders_) {
      if (fs::exists(each / header.name, failed)) return each / header.name;
    }
    return {};
  }

  void include(std::string_view rest, const fs::path& folder) {
    const HeaderName header = header_name(rest);
    if (header.name.empty()) {
      throw Error(
          format("#include {}: a macro names the header, so there is no single source", rest));
    }
    const fs::path file = found(header, folder);
    if (file.empty()) {
      macros_.others_unknown = true;
      return write(format("#include {}", rest));
    }
    const FileText text = read_text_file(file, kLongest);
    if (!text.refusal.empty()) throw Error(format("{}: {}", file.string(), text.refusal));
    add_once(file, text.text);
  }

  /// Includes a file once, like #pragma once. If only the compiler knows whether this is the first
  /// time, a guard macro decides.
  void add_once(const fs::path& file, const std::string& text) {
    if (text.find("#pragma once") == std::string::npos) return add(text, file.parent_path());
    const auto [known, is_new] =
        guards_.try_emplace(fs::weakly_canonical(file).string(),
                            is_conditional() ? format("INCLUDED_{}", guards_.size()) : "");
    const std::string guard = known->second;
    if (guard.empty()) {
      if (is_new) add(text, file.parent_path());
      return;
    }
    write(format("#ifndef {0}\n#define {0}", guard));
    branches_.blocks.push_back({true, true, false, true});
    add(text, file.parent_path());
    write_end();
    branches_.blocks.pop_back();
  }

  std::span<const fs::path> folders_;
  MacroTable macros_;
  Branches branches_;
  std::map<std::string, std::string> guards_;  // of included files; empty: included for certain
  std::string out_;
  int depth_ = 0;
};

}  // namespace

std::string flat_source(std::string_view text, std::string_view prelude,
                        std::span<const fs::path> folders) {
  Flattening flattening(prelude, folders);
  flattening.add(text, folders.empty() ? fs::path() : folders.front());
  return flattening.take();
}

bool has_word(std::string_view text, std::string_view name) {
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_in_identifier(text[at - 1])) &&
        (end == text.size() || !is_in_identifier(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string used_defines(std::string_view prelude, std::string_view text) {
  std::string used;
  for (bool changed = true; changed;) {
    changed = false;
    std::string next;
    for (const std::string_view line : split(prelude, '\n')) {
      if (!line.starts_with("#define ")) continue;
      std::string_view name = line.substr(8);
      name = take_identifier(name);
      const bool in_others = std::ranges::any_of(split(used, '\n'), [&](std::string_view other) {
        return other != line && has_word(other, name);
      });
      if (has_word(text, name) || in_others) next += format("{}\n", line);
    }
    changed = next != used;
    used = std::move(next);
  }
  return used;
}

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

bool Branches::follow(std::string_view word, std::string_view rest, const MacroTable& macros) {
  const bool opens = word == "if" || word == "ifdef" || word == "ifndef";
  if (opens) blocks.push_back({.outside = is_active()});
  if (!opens && word != "elif" && word != "else" && word != "endif") return false;
  if (blocks.empty()) return true;
  if (word == "endif") return blocks.pop_back(), true;
  const std::optional<bool> holds = condition(expression_of(word, rest), macros);
  Block& here = blocks.back();
  here.active = here.outside && !here.decided && holds.value_or(true);
  here.decided = here.decided || (here.active && holds.value_or(false));
  return true;
}

}  // namespace autotune
