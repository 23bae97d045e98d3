// SPDX-License-Identifier: Apache-2.0
// A source and the files that it includes as one text, without branches that its macros exclude.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

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

}  // namespace autotune
