// SPDX-License-Identifier: Apache-2.0
// Parameters and members as C++ declares them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tuner/target/tokens.hpp"

namespace autotune {

/// A parameter of a kernel, a member of a struct, or a parameter of a template.
struct Declaration {
  std::string type;  // without const: `unsigned int`, `float4`
  std::string name;
  int pointers = 0;       // `*` or `[]`
  bool is_const = false;  // what a pointer points to, if it is one
  Tokens if_absent = {};
  Tokens length = {};             // of an array
  std::vector<Tokens> rows = {};  // of an array of arrays: its other lengths
};

/// The name in `float (*function)(float, float)`; empty for other declarations.
std::string function_pointer(const Tokens& tokens);

/// Of `const float* __restrict__ x[]`.
Declaration declaration(Tokens tokens);
/// All of `int x, y`.
std::vector<Declaration> declarations(const Tokens& tokens);
/// Of the `template <class T, int N>` that begins there.
std::vector<Declaration> template_parameters(const Tokens& tokens, std::size_t at = 0);
/// Of a function with its body.
std::vector<Declaration> parameters_of(const Tokens& function);
/// Of a struct, between its braces.
std::vector<Declaration> members(const Tokens& tokens);
/// Of the braces of a class: its data, without functions, types and what is static. Nullopt if a
/// manifest has no such member: a pointer to a function, a class, or an alignment of its own.
std::optional<Tokens> data_of(const Tokens& tokens);

}  // namespace autotune
