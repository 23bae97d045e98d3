// SPDX-License-Identifier: Apache-2.0
// Blocks of expressions: one per line, or several separated by `;`. An indented line continues the
// previous one. `#` begins a comment.
#pragma once

#include <string>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

/// The text of an expression, and its place in a document.
struct Excerpt {
  std::string text;
  Node node;               // the value that contains it
  std::size_t offset = 0;  // within the node's text

  /// Throws Error with the place of the mistake.
  [[noreturn]] void fail(const ExpressionError& error) const;
  [[noreturn]] void fail(std::string_view what) const;
};

/// `name = value` or `name(a, b) = value`.
struct Definition {
  std::string name;
  std::vector<std::string> parameters;
  Excerpt value;
};

/// The excerpt of a node that is one expression: a text, a number or a flag.
Excerpt excerpt_of(const Node& node);

/// The statements of a text, or the items of a list.
std::vector<Excerpt> statements_of(const Node& node);

/// Splits an expression into parts that hold together if and only if it holds: `a and b` gives `a`
/// and `b`; `p implies a and b` gives `p implies a` and `p implies b`.
std::vector<std::string> conjuncts_of(const std::string& text);

/// The statements of a text, or the members of a table.
std::vector<Definition> definitions_of(const Node& node);

}  // namespace autotune
