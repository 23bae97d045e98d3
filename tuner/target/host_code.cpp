// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/host_code.hpp"

#include <algorithm>

#include "tuner/text/format.hpp"

namespace autotune {

Tokens HostCode::rest_of_statement(std::size_t at) const {
  return part_of(body_, at, position(body_, ";", at));
}

Tokens HostCode::without_pitches(const Tokens& function) {
  Tokens made = function;
  for (std::size_t at = position(made, "cudaMallocPitch"); at + 1 < made.size();
       at = position(made, "cudaMallocPitch", at + 1)) {
    const std::vector<Tokens> given = items_in(made, at + 1);
    std::size_t from = at;  // a macro that checks the call may stand around it
    while (from > 0 && made[from - 1] != ";" && made[from - 1] != "{" && made[from - 1] != "}")
      --from;
    if (given.size() != 4 || given[1].empty()) continue;
    const std::string width = text_of(given[2]);
    const Tokens calls = tokens_of(format("{} = {}; cudaMalloc({}, {} * ({}))", given[1].back(),
                                          width, text_of(given[0]), width, text_of(given[3])));
    replace(made, from, position(made, ";", at), calls);
    at = from;
  }
  return made;
}

Tokens HostCode::without_limits(Tokens function) {
  for (std::size_t i = 0; i + 1 < function.size(); ++i) {
    if (function[i] != "if" || function[i + 1] != "(") continue;
    const std::size_t last = closing(function, i + 1);
    const bool has_braces = last + 1 < function.size() && function[last + 1] == "{";
    std::size_t at = has_braces ? last + 2 : last + 1;
    if (at >= function.size()) break;
    const std::string name = function[at];
    if (at + 2 < function.size() && function[at + 1] == ".") at += 2;  // grid.x
    const bool is_limit = at + 1 < function.size() && function[at + 1] == "=" && is_name(name) &&
                          contains(part_of(function, i + 2, last), name);
    std::size_t end = position(function, ";", at) + 1;
    if (has_braces && end < function.size() && function[end] == "}") ++end;
    const bool has_more = end < function.size() &&
                          (function[end] == "else" || (has_braces && function[end - 1] != "}"));
    if (is_limit && !has_more && end <= function.size()) replace(function, i, end, {";"});
  }
  return function;
}

Tokens HostCode::without_placeholders(Tokens function) {
  for (std::size_t i = 3; i < function.size(); ++i) {
    if (function[i - 1] != "=" || function[i] != "0") continue;
    const std::string name = function[i - 2];
    const bool is_passed =
        contains(function, Tokens{"(", "&", name}) || contains(function, Tokens{",", "&", name});
    if (is_passed) replace(function, i - 1, i + 1);
  }
  return function;
}

Words HostCode::words_behind(const Tokens& tokens) const {
  Words all;
  std::vector<std::string> left(tokens.begin(), tokens.end());
  while (!left.empty()) {
    const std::string word = left.back();
    left.pop_back();
    if (!is_name(word) || !all.insert(word).second) continue;
    for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
      if (body_[i] != word) continue;
      const bool is_member = body_[i + 1] == "." && i + 3 < body_.size();
      const std::size_t sign = is_member ? i + 3 : i + 1;
      const bool is_declared =
          body_[sign] == "(" && i > 0 && (body_[i - 1] == "dim3" || body_[i - 1] == ",");
      if (body_[sign] != "=" && !is_declared) continue;
      const Tokens value = is_declared ? part_of(body_, sign + 1, closing(body_, sign))
                                       : split_tokens(rest_of_statement(sign + 1), ",").front();
      left.insert(left.end(), value.begin(), value.end());
    }
  }
  return all;
}

Tokens HostCode::allocated() const {
  Tokens all;
  for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
    const bool allocates = body_[i].ends_with("alloc") || body_[i].ends_with("Malloc");
    if (!allocates || body_[i + 1] != "(") continue;
    append(all, part_of(body_, i + 1, closing(body_, i + 1)));
  }
  return all;
}

Tokens HostCode::bytes_of(const Tokens& function, const std::string& pointer) {
  const HostCode code(function);
  Tokens bytes;
  for (std::size_t i = 0; i + 1 < function.size() && bytes.empty(); ++i) {
    const bool allocates = function[i].starts_with("cudaMalloc") && function[i + 1] == "(";
    if (!allocates) continue;
    const auto given = items_in(function, i + 1);
    if (given.size() > 1 && !given[0].empty() && given[0].back() == pointer) bytes = given[1];
  }
  for (std::size_t i = 0; i + 2 < function.size() && bytes.size() == 1; ++i) {
    if (function[i] != bytes[0] || function[i + 1] != "=") continue;
    bytes = code.rest_of_statement(i + 2);
    if (bytes.size() == 1) i = 0;
  }
  return bytes;
}

bool HostCode::multiplies_in_length(const std::string& word) const {
  Tokens lengths = allocated();
  const Words named(lengths.begin(), lengths.end());
  for (std::size_t i = 0; i + 1 < body_.size(); ++i) {
    if (body_[i + 1] != "=" || !named.contains(body_[i])) continue;
    append(lengths, rest_of_statement(i + 2));
  }
  for (std::size_t i = 1; i + 1 < lengths.size(); ++i) {
    const std::string &left = lengths[i - 1], &right = lengths[i + 1];
    const bool has_it = left == word || right == word;
    if (lengths[i] == "*" && has_it && is_name(left) && is_name(right) && left != right) {
      return true;
    }
  }
  return false;
}

std::optional<std::string> HostCode::first_turn(const std::string& word) const {
  for (std::size_t at = 3; at + 2 < body_.size(); ++at) {
    if (body_[at] != word || body_[at + 1] != "=" || !is_number(body_[at + 2])) continue;
    const bool is_loop = body_[at - 1] == "(" ? body_[at - 2] == "for" : body_[at - 3] == "for";
    if (is_loop) return body_[at + 2];
  }
  return std::nullopt;
}

std::vector<Tokens> HostCode::dimensions(const Tokens& shape) const {
  if (shape.size() > 2 && shape[0] == "dim3" && shape[1] == "(") return items_in(shape, 1);
  std::vector<Tokens> parts = {shape};
  for (std::size_t i = 0; shape.size() == 1 && i + 2 < body_.size(); ++i) {
    if (body_[i] != shape[0]) continue;
    const bool is_declared = i > 0 && (body_[i - 1] == "dim3" || body_[i - 1] == ",");
    const bool opens = body_[i + 1] == "(" || body_[i + 1] == "{";
    if (is_declared && opens) parts = items_in(body_, i + 1);
    if (body_[i + 1] == "=" && body_[i + 2] == "dim3") parts = items_in(body_, i + 3);
    if (body_[i + 1] != "." || i + 4 >= body_.size() || body_[i + 3] != "=") continue;
    const auto axis = static_cast<std::size_t>(body_[i + 2][0] - 'x');  // grid.x = …
    if (axis >= 3) continue;
    if (parts[0] == shape) parts[0] = {"1"};
    if (parts.size() <= axis) parts.resize(axis + 1, {"1"});
    parts[axis] = rest_of_statement(i + 4);
  }
  return parts;
}

Tokens HostCode::with_dimensions(const Tokens& code, const Tokens& but) const {
  Tokens made;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const Tokens name = {code[i]};
    const bool is_read = i + 2 < code.size() && code[i + 1] == "." && name != but &&
                         (i + 3 == code.size() || code[i + 3] != "=");
    const std::vector<Tokens> parts = is_read ? dimensions(name) : std::vector<Tokens>{};
    const auto axis = is_read ? static_cast<std::size_t>(code[i + 2][0] - 'x') : 0;
    if (axis >= parts.size() || parts[0] == name) {
      made.push_back(code[i]);
      continue;
    }
    append(made, parenthesized(parts[axis]));
    i += 2;
  }
  return made;
}

}  // namespace autotune
