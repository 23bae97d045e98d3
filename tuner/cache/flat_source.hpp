// SPDX-License-Identifier: Apache-2.0
// A source and the files that it includes as one text, without branches that its macros exclude.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// The text with each #include of a file in `folders` replaced by the file. Other headers, such as
/// the toolkit's, stay included. `prelude` is the #defines ahead of the text: of a condition that
/// they decide, only the branch that holds stays. Conditions on the compiler's own macros stay.
/// Throws Error if a macro names a header.
std::string flat_source(std::string_view text, std::string_view prelude,
                        std::span<const std::filesystem::path> folders);

/// The lines of `prelude` that `text`, or another of these lines, uses.
std::string used_defines(std::string_view prelude, std::string_view text);

/// Whether `name` stands in the text as a whole word.
bool has_word(std::string_view text, std::string_view name);

// Evaluates conditions of #if with partly known macros.

/// The macros at one place of a source.
struct MacroTable {
  std::map<std::string, std::string, std::less<>> known;  // without arguments, with their text
  std::set<std::string, std::less<>> unknown;             // with arguments, or in one branch only
  /// After a header that was not read, any other name may be a macro.
  bool others_unknown = false;

  /// Whether it is defined; nullopt if that is unknown, as of names of the compiler: `__CUDACC__`.
  std::optional<bool> is_defined(std::string_view name) const;
};

/// Whether the expression of an #if holds; nullopt if that depends on something unknown.
std::optional<bool> condition(std::string_view expression, const MacroTable& macros);

/// The conditions around a line, outermost first. One that the macros do not decide counts as true.
struct Branches {
  /// From #if to #endif.
  struct Block {
    bool outside = true;   // whether the lines around it are read
    bool active = false;   // whether those of the present branch are
    bool decided = false;  // whether a branch is known to hold
    bool written = false;  // whether flat_source() has written an #if for it
  };
  std::vector<Block> blocks = {};

  bool is_active() const { return blocks.empty() || blocks.back().active; }
  /// Follows #if, #ifdef, #ifndef, #elif, #else and #endif; returns false for other directives.
  bool follow(std::string_view word, std::string_view rest, const MacroTable& macros);
};

}  // namespace autotune
