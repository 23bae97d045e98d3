// SPDX-License-Identifier: Apache-2.0
// C++ code as its names, numbers and operators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autotune {

using Tokens = std::vector<std::string>;

/// The type of each pointer to a function.
inline constexpr std::string_view kFunctionType = "()";

/// Names, numbers and operators, of a MaskedSource's code.
Tokens tokens_of(std::string_view code);
/// Whether a token is a name.
bool is_name(const std::string& token);
/// The value of `16` or `16U`; nullopt for other tokens.
std::optional<std::int64_t> integer_of(const std::string& token);
bool is_digit(char letter);
/// Whether a text has digits only.
bool is_number(const std::string& text);
/// From..to-1, as far as there are so many.
Tokens part_of(const Tokens& tokens, std::size_t from, std::size_t to);
/// As a person writes them.
std::string text_of(const Tokens& tokens);
/// As a factor: in parentheses, if it has several terms or factors.
std::string factor_of(const std::string& text);
/// The index of the bracket that closes the one at `open`; the number of tokens if none does.
std::size_t closing(const Tokens& tokens, std::size_t open);
/// At each `separator` outside of brackets.
std::vector<Tokens> split_tokens(const Tokens& tokens, std::string_view separator);

/// A summand.
struct Summand {
  Tokens tokens;
  bool is_added = true;  // else subtracted
};
std::vector<Summand> summands_of(const Tokens& sum);

bool contains(const Tokens& tokens, std::string_view token);
bool contains(const Tokens& tokens, const Tokens& sequence);
/// The index of the first such token, from `from` on; the number of tokens if there is none.
std::size_t position(const Tokens& tokens, std::string_view token, std::size_t from = 0);
/// The index of the `>` that closes the `<` at `open`.
std::size_t closing_angle(const Tokens& tokens, std::size_t open);
/// What stands between the commas in the brackets that open there, which may be angles.
std::vector<Tokens> items_in(const Tokens& tokens, std::size_t open);
/// Up to the end of an operand of `<`: the parenthesis around it, a comma or another operator.
Tokens operand(const Tokens& tokens, std::size_t from);
/// Without parentheses around all, and without casts.
Tokens bare(Tokens tokens);
Tokens parenthesized(const Tokens& tokens);
void append(Tokens& tokens, const Tokens& more);
/// Puts `by` in place of from..to-1.
void replace(Tokens& tokens, std::size_t from, std::size_t to, const Tokens& by = {});

}  // namespace autotune
