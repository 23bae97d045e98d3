// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/declarations.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tuner/target/source_pieces.hpp"

namespace autotune {

Declaration declaration(Tokens tokens) {
  static const Words kQualifiers = words_of(
      "const volatile __restrict__ __restrict restrict struct enum __grid_constant__ static extern "
      "__constant__ typename class constexpr __device__ inline");
  Declaration made;
  const std::size_t close = closing(tokens, position(tokens, "("));
  const bool is_called = close + 1 < tokens.size() && tokens[close + 1] == "(";
  if (const std::string name = function_pointer(tokens); is_called && !name.empty()) {
    made.type = kFunctionType;
    made.name = name;
    return made;
  }
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
  Tokens one;
  int depth = 0;
  for (const std::string& each : tokens) {  // the commas of `Box<T, 2> box` are not between two
    if (each == "(" || each == "[" || each == "{" || each == "<") ++depth;
    if (each == ")" || each == "]" || each == "}" || each == ">") --depth;
    if (each == ">>") depth -= 2;
    if (depth > 0 || each != ",") {
      one.push_back(each);
    } else {
      all.push_back(declaration(std::exchange(one, {})));
    }
  }
  if (!tokens.empty()) all.push_back(declaration(std::move(one)));
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

std::optional<Tokens> data_of(const Tokens& tokens) {
  static const Words kNoData = words_of("static using typedef friend template");
  static const Words kLabels = words_of("public private protected");
  static const Words kOthers = words_of("virtual alignas __align__");
  static const Words kClasses = words_of("struct class union enum");
  Tokens data, line;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (kLabels.contains(tokens[i]) && i + 1 < tokens.size() && tokens[i + 1] == ":") {
      ++i;
      continue;
    }
    const bool is_end = tokens[i] == ";" || tokens[i] == "{";
    if (!is_end) {
      line.push_back(tokens[i]);
      continue;
    }
    const std::size_t equals = position(line, "="), open = position(line, "(");
    const bool is_function = open < equals || contains(line, "operator");
    const bool is_data =
        !line.empty() && !kNoData.contains(line[0]) && line[0] != "," && !is_function;
    const bool has_class = tokens[i] == "{" && !line.empty() && kClasses.contains(line[0]);
    const bool has_other =
        has_class || std::ranges::any_of(line, [](auto& each) { return kOthers.contains(each); });
    const bool is_pointer = is_function && open + 1 < line.size() && line[open + 1] == "*";
    if (has_other || is_pointer) return std::nullopt;
    if (tokens[i] == "{") i = closing(tokens, i);
    if (is_data && i + 1 < tokens.size() && tokens[i] == "}" && tokens[i + 1] == ";") ++i;
    if (is_data) append(data, line);
    if (is_data) data.emplace_back(";");
    line.clear();
  }
  return data;
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
