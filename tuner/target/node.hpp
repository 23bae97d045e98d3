// SPDX-License-Identifier: Apache-2.0
// A manifest as a tree. Each value knows its place in the file, which errors
// name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/value.hpp"

namespace autotune {

/// A file's name and text.
struct Document {
  std::string file;
  std::string text;
};

/// Most items of a list or table, unless a key has its own bound.
inline constexpr std::size_t kMostItems = 1000;

/// A value of a manifest. Every function throws Error if the value is not as expected. The message
/// is `FILE:LINE:COLUMN: what` and the line if the position is known, else `FILE: KEY: what`.
class Node {
 public:
  enum class Kind : std::uint8_t { table, list, text, integer, real, flag };
  static constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);
  struct Member;

  Node();
  Node(Kind kind, std::shared_ptr<const Document> document, std::string key);
  Node(const Node&);
  Node(Node&&) noexcept;
  Node& operator=(const Node&);
  Node& operator=(Node&&) noexcept;
  ~Node();

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  const std::string& key() const { return key_; }
  const Document& document() const { return *document_; }

  [[noreturn]] void fail(std::string_view what) const;
  /// The same at a byte of the text, from 0.
  [[noreturn]] void fail_at(std::size_t offset, std::string_view what) const;
  /// Whether fail_at() can point into the text: not if it has escapes.
  bool has_place() const { return text_at_ != kUnknown; }

  /// Throws unless this is a table with only these keys; suggests a near one. Keys of `later` are
  /// reported as not supported yet.
  void expect_keys(std::initializer_list<std::string_view> keys,
                   std::initializer_list<std::string_view> later = {}) const;
  bool has(std::string_view name) const { return find(name) != nullptr; }
  const Node& operator[](std::string_view name) const;  // throws if it is missing
  const Node* find(std::string_view name) const;        // nullptr if it is missing

  /// The items of a list with `fewest` to `most` items.
  const std::vector<Node>& items(std::size_t fewest = 0, std::size_t most = kMostItems) const;
  /// The items of a list; of any other value, the value itself.
  std::vector<Node> one_or_more(std::size_t most) const;
  /// The members of a table with at most kMostItems, in the order of the document. All names must
  /// be identifiers.
  const std::vector<Member>& members() const;

  /// Of the member of this name; none if it is missing.
  const std::vector<Node>& items_of(std::string_view name) const;
  const std::vector<Member>& members_of(std::string_view name) const;

  std::string text() const;
  bool flag() const;
  std::int64_t integer() const;
  double real() const;
  /// A text that is a name in C++ and in expressions: letters, digits and `_`, not a digit first.
  std::string identifier() const;
  /// An integer, a real number, or a word: an identifier in quotes. A flag is 0 or 1.
  Value value() const;

  // For the parser, tree_of_toml().
  void set_text(std::string text) { text_ = std::move(text); }
  void set_integer(std::int64_t integer) { integer_ = integer; }
  void set_real(double real) { real_ = real; }
  void set_place(std::size_t at, std::size_t text_at);
  void set_key_place(std::size_t at) { key_at_ = at; }
  void add_item(Node item) { items_.push_back(std::move(item)); }
  void add_member(std::string name, Node node);
  void remove(std::string_view name);
  /// An empty node of this kind at the place of this one.
  Node empty(Kind kind) const;

 private:
  Kind kind_ = Kind::table;
  std::shared_ptr<const Document> document_;
  std::string key_;  // kernels[0].grid
  std::string text_;
  std::int64_t integer_ = 0;  // or a flag
  double real_ = 0;
  std::vector<Node> items_;
  std::vector<Member> members_;
  std::size_t at_ = kUnknown;       // offset of the value in the document's text
  std::size_t key_at_ = kUnknown;   // offset of its key
  std::size_t text_at_ = kUnknown;  // offset of text(); unknown if it has escapes
};

struct Node::Member {
  std::string name;
  Node node;
};

bool is_identifier(std::string_view text);

// Reads the text of a manifest into a tree.

/// TOML 1.0. Throws Error with file, line and column.
Node tree_of_toml(std::shared_ptr<const Document> document);

}  // namespace autotune
