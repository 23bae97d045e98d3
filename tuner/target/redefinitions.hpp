// SPDX-License-Identifier: Apache-2.0
// Finds `#define`s of a source that would silently override those of the manifest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Throws Error with both places if the source, or a file that it includes, defines a macro that
/// the manifest defines.
void refuse_redefinitions(const Target& target);

}  // namespace autotune
