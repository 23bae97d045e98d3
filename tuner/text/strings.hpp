// SPDX-License-Identifier: Apache-2.0
// Parts of a text, and the essential line of a compiler's log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autotune {

/// Without the white space at both ends.
std::string_view trimmed(std::string_view text);

/// In lower case, of ASCII.
std::string lowered(std::string text);

/// A letter, a digit or an underscore, of ASCII.
bool is_in_identifier(char c);
/// Removes the letters, digits and underscores at the front and returns them.
std::string_view take_identifier(std::string_view& text);
/// The same behind white space; the rest begins and ends without any.
std::string_view take_word(std::string_view& text);
/// The letters, digits and underscores at the end; empty if there are none.
std::string_view identifier_at_end(std::string_view text);

/// The text after the parenthesis that closes the one at its front. Empty if none does.
std::string_view after_parentheses(std::string_view text);

/// At each separator: at least one part, which may be empty.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Each `what`, from left to right; what is inserted is not searched.
void replace_all(std::string& text, std::string_view what, std::string_view with);

/// The first line with an error, else the first line that is not empty; empty for an empty log.
std::string first_error(std::string_view log);

}  // namespace autotune
