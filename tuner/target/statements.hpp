// SPDX-License-Identifier: Apache-2.0
// Blocks of expressions: one on a line, or several with `;` between. An indented line continues the
// one above, and `#` begins a comment.
#pragma once

#include <string>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/target/node.hpp"

namespace autotune {

/// The text of an expression, and where in a document it stands.
struct Excerpt {
  std::string text;
  Node node;               // that it is part of
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

/// An expression of its own: a text, or a number or flag.
Excerpt excerpt_of(const Node& node);

/// Of a text, its statements; of a list, its items.
std::vector<Excerpt> statements_of(const Node& node);

/// What holds where each of these does: `a and b` as `a`, `b`, and `p implies a and b` as `p
/// implies a`, `p implies b`. The text is an expression.
std::vector<std::string> conjuncts_of(const std::string& text);

/// Of a text, its statements; of a table, its members.
std::vector<Definition> definitions_of(const Node& node);

}  // namespace autotune
