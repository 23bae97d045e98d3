// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/directives.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Characters that can end a line, or begin or end a comment or a literal.
constexpr auto kSpecial = [] {
  std::array<bool, 256> special{};
  for (const unsigned char c : {'\n', '\\', '/', '*', '"', '\''}) special[c] = true;
  return special;
}();

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<LogicalLine> read() {
    while (at_ < text_.size()) {
      take_ordinary();
      if (at_ == text_.size()) break;
      if (take("\\\n") || take("\\\r\n")) {
        ++number_;
      } else if (take("\n")) {
        end_line();
      } else {
        take_character();
      }
    }
    return std::move(lines_);
  }

 private:
  enum class In : std::uint8_t { code, line_comment, comment, quote };

  std::string& line() { return lines_.back().text; }

  bool take(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  /// Most of a source: what stands before the next special character.
  void take_ordinary() {
    const std::size_t from = at_;
    while (at_ < text_.size() && !kSpecial[static_cast<unsigned char>(text_[at_])]) ++at_;
    if (in_ == In::code || in_ == In::quote) line().append(text_, from, at_ - from);
  }

  /// Ends a line, and with it an open quote: a lone apostrophe does not begin a literal.
  void end_line() {
    ++number_;
    if (in_ == In::comment) return;
    in_ = In::code;
    lines_.push_back({number_, ""});
  }

  void take_character() {
    if (in_ == In::code) return take_code();
    if (in_ == In::comment && take("*/")) {
      in_ = In::code;
      return;
    }
    const char c = text_[at_++];
    if (in_ != In::quote) return;
    line() += c;
    if (c == quote_) in_ = In::code;
    if (c == '\\' && at_ < text_.size() && text_[at_] != '\n') line() += text_[at_++];
  }

  void take_code() {
    if (take("/*") || take("//")) {
      in_ = text_[at_ - 1] == '*' ? In::comment : In::line_comment;
      line() += ' ';
      return;
    }
    const char c = text_[at_++];
    const bool separates_digits = c == '\'' && !line().empty() && is_in_identifier(line().back());
    if (c == '"' && line().ends_with('R')) return take_raw();
    if (c == '"' || (c == '\'' && !separates_digits)) {
      in_ = In::quote;
      quote_ = c;
    }
    line() += c;
  }

  /// Skips a raw string, `"delimiter(…)delimiter"`.
  void take_raw() {
    line() += "\"\"";
    const auto open = text_.find('(', at_);
    if (open == std::string_view::npos) return;
    const std::string end = ")" + std::string(text_.substr(at_, open - at_)) + '"';
    const std::size_t stop =
        std::min(text_.find(end, open), text_.size() - end.size()) + end.size();
    number_ += static_cast<int>(std::ranges::count(text_.substr(at_, stop - at_), '\n'));
    at_ = stop;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int number_ = 1;
  In in_ = In::code;
  char quote_ = '\0';
  std::vector<LogicalLine> lines_ = std::vector<LogicalLine>(1);
};

}  // namespace

std::vector<LogicalLine> logical_lines(std::string_view text) { return Reader(text).read(); }

std::string_view take_directive(std::string_view& line) {
  const std::string_view directive = trimmed(line);
  const std::size_t length = directive.starts_with('#') ? 1 : directive.starts_with("%:") ? 2 : 0;
  if (length == 0) return {};
  line = directive.substr(length);
  return take_word(line);
}

namespace {

template <class Use>
void for_each_line(std::string_view text, const Use& use) {
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// The name in `#include "name"` or `#include <name>`; an empty one in any other line.
HeaderName plain_name(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return {};
  line = trimmed(line.substr(1));
  if (!line.starts_with("include")) return {};
  return header_name(trimmed(line.substr(7)));
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
    note(directives.others, header_name(trimmed(line.substr(open + 1))));
  }
}

void read_directive(std::string_view line, Directives& directives) {
  const std::string_view word = take_directive(line);
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
    read_directive(logical.text, directives);
  }
  return directives;
}

}  // namespace autotune
