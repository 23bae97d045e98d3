// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/logical_lines.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<LogicalLine> read() {
    while (at_ < text_.size()) {
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

}  // namespace autotune
