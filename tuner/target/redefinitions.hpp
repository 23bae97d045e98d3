// SPDX-License-Identifier: Apache-2.0
// Finds `#define`s of a source that would silently override those of the manifest, and conditions
// on macros that do not exist.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/cache/included_text.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// A `#define` with its first line, as `#line` counts.
struct SourceDefine {
  std::string name;
  int line = 0;
  std::string file = {};  // from the last #line; empty before the first
  friend bool operator==(const SourceDefine&, const SourceDefine&) = default;
};

/// The `#define`s of a text, except those inside `#if 0` or a condition on their own name
/// (`#ifndef N`). Other conditions are not evaluated.
std::vector<SourceDefine> unguarded_defines(std::string_view text);

/// Throws Error with both places if the sources, or a file that they include, define a macro that
/// the manifest defines.
void refuse_redefinitions(const Target& target, const Included& included);

/// Throws Error with the place if an `#if` names a macro that is not defined there, so that it
/// would silently be 0: the number of a family that does not exist, or in the source of a family, a
/// macro that only other families have. `removed` are families that the manifest has removed from
/// the one that it extends.
void refuse_unknown_conditions(const Target& target, const Included& included,
                               const std::set<std::string>& removed);

}  // namespace autotune
