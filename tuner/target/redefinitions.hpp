// SPDX-License-Identifier: Apache-2.0
// `#define`s of a source that would override the manifest's without a word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"

namespace autotune {

/// A `#define`, by the line that it begins on, as `#line` counts.
struct SourceDefine {
  std::string name;
  int line = 0;
  std::string file = {};  // as the last #line calls it; empty before the first
  friend bool operator==(const SourceDefine&, const SourceDefine&) = default;
};

/// The `#define`s of a text, without those inside a condition that asks for their own name
/// (`#ifndef N`) and those inside `#if 0`. Other conditions are not evaluated.
std::vector<SourceDefine> unguarded_defines(std::string_view text);

/// Throws Error naming both places when the source, or a file that it includes, defines a macro of
/// the manifest again.
void refuse_redefinitions(const Target& target);

}  // namespace autotune
