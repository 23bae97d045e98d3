// SPDX-License-Identifier: Apache-2.0
// Evaluates conditions of #if with partly known macros.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace autotune {

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

}  // namespace autotune
