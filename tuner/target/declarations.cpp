// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/declarations.hpp"

#include <algorithm>
#include <utility>

#include "tuner/target/source_pieces.hpp"

namespace autotune {

Declaration declaration(Tokens tokens) {
  static const Words kQualifiers = words_of(
      "const volatile __restrict__ __restrict restrict struct __grid_constant__ static extern "
      "__constant__ typename class constexpr __device__ inline");
  Declaration made;
  const std::size_t assigned = position(tokens, "=");
  made.if_absent = part_of(tokens, assigned + 1, tokens.size());
  tokens = part_of(tokens, 0, assigned);
  const std::size_t array = position(tokens, "[");
  const bool is_of_arrays = array > 3 && array < tokens.size() && tokens[array - 1] == ")";
  for (std::size_t at = array; at < tokens.size() && tokens[at] == "[";) {
    const std::size_t end = closing(tokens, at);
    const Tokens length = part_of(tokens, at + 1, end);
    (at == array && !is_of_arrays ? made.length : made.rows.emplace_back()) = length;
    at = end + 1;
  }
  if (array < tokens.size()) {
    made.pointers = is_of_arrays ? 0 : 1;
    tokens = part_of(tokens, 0, array);
  }
  if (is_of_arrays)
    std::erase_if(tokens, [](const auto& token) { return token == "(" || token == ")"; });
  const std::size_t star = position(tokens, "*");
  made.is_const = position(tokens, "const") < star;
  made.pointers += static_cast<int>(std::count(tokens.begin(), tokens.end(), "*"));
  std::erase_if(
      tokens, [](const std::string& token) { return token == "*" || kQualifiers.contains(token); });
  if (tokens.size() > 1 && is_name(tokens.back())) {
    made.name = tokens.back();
    tokens.pop_back();
  }
  made.type = text_of(tokens);
  return made;
}

std::vector<Declaration> declarations(const Tokens& tokens) {
  std::vector<Declaration> all;
  if (tokens.empty()) return all;
  for (const Tokens& each : split_tokens(tokens, ",")) all.push_back(declaration(each));
  return all;
}

std::string function_pointer(const Tokens& tokens) {
  const std::size_t open = position(tokens, "(");
  const bool is_one = open + 2 < tokens.size() && tokens[open + 1] == "*";
  return is_one && is_name(tokens[open + 2]) ? tokens[open + 2] : "";
}

std::vector<Declaration> template_parameters(const Tokens& tokens, std::size_t at) {
  std::vector<Declaration> all;
  for (const Tokens& each : items_in(tokens, at + 1)) {
    Declaration one = declaration(each);
    const bool is_type = !each.empty() && (each[0] == "typename" || each[0] == "class");
    if (is_type && one.name.empty()) one.name = one.type;
    if (is_type) one.type = "typename";
    if (const std::string name = function_pointer(each); !name.empty()) {
      one = {.type = std::string(kFunctionType), .name = name};
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<Declaration> members(const Tokens& tokens) {
  std::vector<Declaration> all;
  for (const Tokens& line : split_tokens(tokens, ";")) {
    if (line.empty()) continue;
    std::vector<Tokens> names = split_tokens(line, ",");
    const Declaration first = declaration(names[0]);
    all.push_back(first);
    for (std::size_t i = 1; i < names.size(); ++i) {
      names[i].insert(names[i].begin(), first.type);
      all.push_back(declaration(names[i]));
    }
  }
  return all;
}

std::vector<Declaration> parameters_of(const Tokens& function) {
  for (std::size_t at = 0; at < function.size(); ++at) {
    if (function[at] != "(") continue;
    const std::size_t end = closing(function, at);
    if (end + 1 < function.size() && function[end + 1] == "{") {
      return declarations(part_of(function, at + 1, end));
    }
    at = end;
  }
  return {};
}

}  // namespace autotune
