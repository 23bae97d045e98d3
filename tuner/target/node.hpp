// SPDX-License-Identifier: Apache-2.0
// A value in a JSON document that knows its path, so that each error names it.
#pragma once

#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/expression.hpp"
#include "tuner/core/value.hpp"
#include "tuner/json/json.hpp"

namespace autotune {

/// The names and words that an expression may hold.
struct Vocabulary {
  std::set<std::string> names;
  std::set<std::string> words;
};

/// Of an array or object, unless a key has a bound of its own.
inline constexpr std::size_t kMostItems = 1000;

/// Every function throws Error `FILE: KEY: what is wrong` where the document is not as asked for.
class Node {
 public:
  Node(const Json& json, std::string file, std::string key = {})
      : json_(&json), file_(std::move(file)), key_(std::move(key)) {}

  const std::string& key() const { return key_; }
  const Json& json() const { return *json_; }
  [[noreturn]] void fail(std::string_view what) const;

  /// Refuses anything but an object with these keys, naming a near one.
  void expect_keys(std::initializer_list<std::string_view> keys) const;
  bool has(std::string_view name) const { return json_->contains(name); }
  Node operator[](std::string_view name) const;  // must be there
  std::optional<Node> find(std::string_view name) const;

  /// The items of an array of at least `fewest`, at most `most`.
  std::vector<Node> items(std::size_t fewest = 0, std::size_t most = kMostItems) const;
  struct Member;
  /// Of an object with at most kMostItems.
  std::vector<Member> members() const;

  std::string text() const;
  bool flag() const;
  /// Letters, digits and `_`, no digit first: what C++ and expressions take for a name.
  std::string identifier() const;
  /// An integer, or a word: an identifier in quotes.
  Value value() const;
  /// A text, or an integer, as an expression over `vocabulary`.
  Expression expression(const Vocabulary& vocabulary) const;
  std::vector<Expression> expressions(const Vocabulary& vocabulary, std::size_t fewest,
                                      std::size_t most) const;

 private:
  const Json* json_;
  std::string file_, key_;
};

struct Node::Member {
  std::string name;
  Node node;
};

bool is_identifier(std::string_view text);

}  // namespace autotune
