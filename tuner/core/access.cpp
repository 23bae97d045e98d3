// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/access.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::array<std::string_view, 3> kClauses{"wide", "times", "when"};

/// Splits a line into its parts, from left to right.
class LineReader {
 public:
  LineReader(std::string_view line, const NameResolver& resolver)
      : line_(trimmed(line)), rest_(line_), resolver_(resolver) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(format("\"{}\": {} (write: load x[bx * BLOCK + tx] times ITEMS)", line_, what));
  }

  std::string_view line() const { return line_; }
  bool done() const { return rest_.empty(); }

  std::string_view word() {
    std::string_view rest = rest_;
    return take(take_identifier(rest).size());
  }

  /// The text in the next brackets.
  std::string_view bracketed() {
    if (!rest_.starts_with('[')) fail("an index in brackets is missing");
    int depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      depth += (rest_[i] == '[') - (rest_[i] == ']');
      if (depth > 0) continue;
      const std::string_view inside = rest_.substr(1, i - 1);
      take(i + 1);
      return inside;
    }
    fail("']' is missing");
  }

  /// The text before the next clause. Words in quotes do not begin a clause.
  std::string_view up_to_clause() {
    bool quoted = false;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '\'') quoted = !quoted;
      if (quoted || (i > 0 && is_in_identifier(rest_[i - 1]))) continue;
      std::string_view rest = rest_.substr(i);
      if (std::ranges::find(kClauses, take_identifier(rest)) != kClauses.end())
        return trimmed(take(i));
    }
    return take(rest_.size());
  }

  Expression parsed(std::string_view text) const {
    try {
      return resolver_ ? Expression::parse(text, resolver_) : Expression::parse(text);
    } catch (const ExpressionError& error) {
      fail(error.what());
    }
  }

 private:
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_ = trimmed(rest_.substr(count));
    return taken;
  }

  std::string_view line_, rest_;
  NameResolver resolver_;
};

/// Resolves the coordinates, and other names by `others`.
NameResolver with_coordinates(const NameResolver& others) {
  if (!others) return {};
  return [&others](const std::string& name) {
    const bool is_coordinate = std::ranges::find(kCoordinates, name) != kCoordinates.end();
    return is_coordinate ? NameMeaning{ValueKind::integer, name} : others(name);
  };
}

}  // namespace

AccessSpec parse_access(std::string_view line, const NameResolver& resolver) {
  LineReader reader(line, with_coordinates(resolver));
  const std::string_view kind = reader.word();
  if (kind != "load" && kind != "store") reader.fail("an access begins with load or store");
  const std::string_view buffer = reader.word();
  if (buffer.empty()) reader.fail("the name of a buffer is missing");
  AccessSpec access{.text = std::string(reader.line()),
                    .store = kind == "store",
                    .buffer = std::string(buffer),
                    .index = reader.parsed(reader.bracketed()),
                    .wide = {},
                    .times = {},
                    .when = {}};
  while (!reader.done()) {
    const std::string_view clause = reader.word();
    const auto which = std::ranges::find(kClauses, clause) - kClauses.begin();
    if (which == std::ssize(kClauses)) {
      reader.fail(format("expected wide, times or when behind the index, not \"{}\"", clause));
    }
    auto& part = which == 0 ? access.wide : which == 1 ? access.times : access.when;
    if (part) reader.fail(format("{} stands twice", clause));
    part = reader.parsed(reader.up_to_clause());
  }
  return access;
}

}  // namespace autotune
