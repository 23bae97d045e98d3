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
#include "tuner/target/node.hpp"
#include "tuner/target/source_pieces.hpp"

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

// Finds macros of a target that have the same name.

/// Throws Error at `place` if one configuration defines two macros of the same name.
void refuse_equal_macros(const Node& place, const Target& target);

// Names of parameters that a source has of its own, as a kernel has that was not written to be
// tuned: the manifest's values take their place.

/// Leaves out of the target's sources what gives a parameter's name, or that of a size with a macro
/// of its name, a value: `#define BLOCK 16` (outside of `#ifndef BLOCK`), and `const int BLOCK =
/// 16;` outside of functions.
void replace_own_values(Target& target);

/// Whether a file gives one of these names a value in that way.
bool has_own_value(const std::string& text, const Words& names);

/// A parameter that an entry passes (`entry = "scan<{BLOCK}>"`) and that a template of the sources
/// has by the same name is no macro: the macro would break the template.
void pass_template_parameters(Target& target, const Included& included);

/// The entry of a kernel that is not extern "C" becomes its C++ name: `scan` becomes `::scan`, or
/// `::detail::scan` if it is in that namespace. Not of templates.
void qualify_entries(Target& target, const Included& included);

/// The `#include` lines at the head of the source, without files of the target's own folders.
/// They precede the macros, whose names the headers of libraries may use. Errors in them are placed
/// in the source.
std::string leading_system_includes(const Target& target);

}  // namespace autotune
