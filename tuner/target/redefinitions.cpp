// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/redefinitions.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "tuner/cache/included_text.hpp"
#include "tuner/cache/logical_lines.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

/// Removes the first word of `text` and the blanks around it, and returns the word.
std::string_view take_word(std::string_view& text) {
  text = without_blanks(text);
  const auto end = std::ranges::find_if_not(text, is_word);
  const std::string_view word = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text = without_blanks(text.substr(word.size()));
  return word;
}

bool names(std::string_view condition, std::string_view name) {
  while (!condition.empty()) {
    if (take_word(condition) == name) return true;
    if (!condition.empty() && !is_word(condition.front())) condition.remove_prefix(1);
  }
  return false;
}

/// The conditions around a line, outermost first, each with its earlier branches.
class Conditions {
 public:
  void follow(std::string_view directive, std::string_view rest) {
    if (directive.starts_with("if")) {
      open_.emplace_back(rest);
    } else if (open_.empty()) {
      return;
    } else if (directive.starts_with("el")) {
      open_.back() += format(" else {}", rest);
    } else if (directive == "endif") {
      open_.pop_back();
    }
  }

  bool guard(std::string_view name) const {
    return std::ranges::any_of(open_, [&](const std::string& condition) {
      return condition == "0" || names(condition, name);
    });
  }

 private:
  std::vector<std::string> open_;
};

/// File and line according to directives such as `#line 1 "b.cu"`.
class Place {
 public:
  /// Applies the rest of a #line directive.
  void set(std::string_view rest, int line) {
    after_ = line + 1;
    std::from_chars(rest.data(), rest.data() + rest.size(), first_);
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (close > open) file_ = rest.substr(open + 1, close - open - 1);
  }
  int line(int number) const { return number - after_ + first_; }
  const std::string& file() const { return file_; }

 private:
  int after_ = 1, first_ = 1;
  std::string file_;
};

}  // namespace

std::vector<SourceDefine> unguarded_defines(std::string_view text) {
  std::vector<SourceDefine> defines;
  Conditions conditions;
  Place place;
  for (const LogicalLine& line : logical_lines(text)) {
    std::string_view rest = without_blanks(line.text);
    if (!rest.starts_with('#') && !rest.starts_with("%:")) continue;
    rest.remove_prefix(rest.front() == '#' ? 1 : 2);
    const std::string_view directive = take_word(rest);
    conditions.follow(directive, rest);
    if (directive == "line") place.set(rest, line.number);
    if (directive != "define") continue;
    const std::string_view name = take_word(rest);
    if (!conditions.guard(name))
      defines.push_back({std::string(name), place.line(line.number), place.file()});
  }
  return defines;
}

void refuse_redefinitions(const Target& target) {
  const std::vector<Macro> macros = macros_of(target);
  const auto check = [&](const std::string& file, std::string_view text) {
    for (const SourceDefine& define : unguarded_defines(text)) {
      const auto macro = std::ranges::find(macros, define.name, &Macro::name);
      if (macro == macros.end()) continue;
      throw Error(
          format("{}: {}: {}:{} has a #define {} of its own, which would override the manifest's: "
                 "remove it, or write #ifndef {} before it and #endif after it",
                 place_of(target), macro->owner, define.file.empty() ? file : define.file,
                 define.line, define.name, define.name));
    }
  };
  check(target.source_path.string(), target.source_text);
  const Included others = included(target.source_text, target.include_folders, target.options);
  for (const IncludedFile& file : others.files) check(file.path.string(), file.text);
}

}  // namespace autotune
