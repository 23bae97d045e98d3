// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_text.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// Where a pointer is set or moved.
struct PointerChange {
  std::size_t at = 0, end = 0;  // of the statement's tokens
  std::string sign;
  bool is_repeated = false;
};

/// The variables of the loops around each token that go over a grid's elements, `?` of others.
std::vector<Words> loops_around(const Tokens& body) {
  std::vector<Words> all(body.size() + 1);
  for (std::size_t i = 0; i + 2 < body.size(); ++i) {
    const bool is_loop = (body[i] == "for" || body[i] == "while") && body[i + 1] == "(";
    if (!is_loop && body[i] != "do") continue;
    const std::size_t from = is_loop ? closing(body, i + 1) + 1 : i + 1;
    const bool has_braces = from < body.size() && body[from] == "{";
    const std::size_t to = has_braces ? closing(body, from) : position(body, ";", from);
    const std::size_t set = position(body, "=", i);
    const bool is_of_grid = set < from && contains(part_of(body, set, from), "blockIdx");
    for (std::size_t at = from; at < std::min(to, body.size()); ++at) {
      all[at].insert(is_of_grid ? body[set - 1] : "?");
    }
  }
  return all;
}

/// Of `p = …`, `p += …`, `++p`, outside of declarations of other names.
std::vector<PointerChange> changes_of(const Tokens& body, const std::string& pointer) {
  std::vector<PointerChange> all;
  const std::vector<Words> loops = loops_around(body);
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    const std::string before = i > 0 ? body[i - 1] : ";";
    if (body[i] != pointer || before == "." || before == "->") continue;
    const std::string& sign = body[i + 1];
    const bool is_stored = before == "*" && i > 1 && !is_name(body[i - 2]) && body[i - 2] != "*";
    const bool is_set = sign == "=" && !is_stored;
    const bool is_stepped = sign == "++" || sign == "--" || before == "++" || before == "--";
    if (!is_set && !is_stepped && sign != "+=" && sign != "-=") continue;
    const Tokens value = operand(body, i + 2);
    const bool is_alone = before == ";" || before == "}" || before == "{" || before == ")";
    const bool is_repeated = std::ranges::any_of(
        loops[i], [&](const std::string& variable) { return !contains(value, variable); });
    all.push_back({i, i + 2 + value.size(), is_stepped ? "++" : sign, is_repeated || !is_alone});
  }
  return all;
}

/// The elements from the start of `buffer` to a pointer such as `buffer + i`, `&buffer[i]`,
/// `buffer`; nullopt if it is another one.
std::optional<Tokens> offset_in(const Tokens& pointer, const std::string& buffer) {
  const Tokens tokens = bare(pointer);
  if (tokens == Tokens{buffer}) return Tokens{"0"};
  if (tokens.size() > 2 && tokens[0] == buffer && tokens[1] == "+") {
    return part_of(tokens, 2, tokens.size());
  }
  if (tokens.size() > 4 && tokens[0] == "&" && tokens[1] == buffer && tokens[2] == "[" &&
      closing(tokens, 2) + 1 == tokens.size()) {
    return part_of(tokens, 3, tokens.size() - 1);
  }
  return std::nullopt;
}

/// With `buffer[(offset) + i]` in place of `pointer[i]`.
Tokens with_elements(const Tokens& body, const std::string& pointer, const std::string& buffer,
                     const Tokens& offset) {
  const bool is_moved = offset != Tokens{"0"};
  Tokens made;
  const auto add_element = [&](const Tokens& index) {
    append(made, {buffer, "["});
    if (is_moved) append(made, parenthesized(offset));
    if (is_moved && index != Tokens{"0"}) made.emplace_back("+");
    if (!is_moved || index != Tokens{"0"}) {
      append(made, is_moved && index.size() > 1 ? parenthesized(index) : index);
    }
    made.emplace_back("]");
  };
  for (std::size_t i = 0; i < body.size(); ++i) {
    const std::string before = i > 0 ? body[i - 1] : ";";
    const std::string after = i + 1 < body.size() ? body[i + 1] : ";";
    const bool opens = body[i] == "*" && after == "(" && !is_in_identifier(before.back()) &&
                       before != ")" && before != "]";
    if (opens && i + 3 < body.size() && body[i + 2] == pointer && body[i + 3] == "+") {
      const std::size_t end = closing(body, i + 1);  // *(p + i)
      add_element(part_of(body, i + 4, end));
      i = end;
    } else if (body[i] != pointer || before == "." || before == "->") {
      made.push_back(body[i]);
    } else if (pointer != buffer && before == "*" && (after == ";" || after == ",")) {
      made.pop_back();  // its declaration
    } else if (after == "[") {
      const std::size_t end = closing(body, i + 1);
      add_element(part_of(body, i + 2, end));
      i = end;
    } else if (after == "->") {
      add_element({"0"});
      made.emplace_back(".");
      ++i;
    } else if (before == "*" && !made.empty() &&
               (i < 2 || (!is_in_identifier(body[i - 2].back()) && body[i - 2] != ")" &&
                          body[i - 2] != "]"))) {
      made.pop_back();
      add_element({"0"});
    } else {
      made.push_back(buffer);  // passed on
      if (!is_moved) continue;
      made.emplace_back("+");
      append(made, offset);
    }
  }
  return made;
}

}  // namespace

WithoutPointers without_pointers(const KernelCode& kernel) {
  Tokens body = kernel.body;
  std::map<std::string, Tokens> offsets;
  for (const Declaration& each : kernel.parameters) {
    if (each.pointers != 1) continue;
    const std::vector<PointerChange> own = changes_of(body, each.name);
    std::optional<Tokens> moved;  // by `x += …` or `x = x + …`
    if (own.size() == 1 && !own[0].is_repeated) {
      const Tokens value = part_of(body, own[0].at + 2, own[0].end);
      if (own[0].sign == "+=") moved = value;
      if (own[0].sign == "=") moved = offset_in(value, each.name);
    }
    if (own.size() > 1 || (own.size() == 1 && !moved)) {
      body = with_elements(body, each.name, each.name, {"moved", "(", ")"});
      continue;
    }
    Tokens offset = {"0"};
    if (moved) {
      offset = *moved;
      replace(body, own[0].at, own[0].end);
      offsets.emplace(each.name, offset);
    }
    body = with_elements(body, each.name, each.name, offset);
    for (std::size_t i = 0; i + 1 < body.size(); ++i) {
      const bool is_declared = body[i + 1] == "=" && is_name(body[i]) && body[i] != each.name;
      if (!is_declared) continue;
      const std::string pointer = body[i];
      const auto start = offset_in(operand(body, i + 2), each.name);
      if (!start || changes_of(body, pointer).size() != 1) continue;
      const std::size_t end = i + 2 + operand(body, i + 2).size();
      if (i > 0 && body[i - 1] == "*") --i;  // of its declaration
      replace(body, i, end);
      offsets.emplace(pointer, *start);
      body = with_elements(body, pointer, each.name, *start);
    }
  }
  return {std::move(body), std::move(offsets)};
}

}  // namespace autotune
