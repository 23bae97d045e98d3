// SPDX-License-Identifier: Apache-2.0
// TOML, from toml++: the only place that includes it.
#define TOML_HEADER_ONLY 1
// Some wrong texts, such as an unfinished header, break an assertion of toml++. Here that is an
// exception in every build: without NDEBUG, and with an assert of our own.
#undef NDEBUG
namespace autotune {
struct BrokenToml {};
[[noreturn]] inline void refuse_toml() { throw BrokenToml(); }
}  // namespace autotune
#define TOML_ASSERT(expr) ((expr) ? static_cast<void>(0) : autotune::refuse_toml())
#include <toml++/toml.h>

#include <algorithm>

#include "tuner/core/error.hpp"
#include "tuner/target/document.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Where lines of a document begin.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text), starts_{0} {
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }
  std::size_t offset(const toml::source_position& position) const {
    if (position.line == 0 || position.line > starts_.size()) return Node::kUnknown;
    return std::min(starts_[position.line - 1] + position.column - 1, text_.size());
  }
  /// Where a text begins within its quotes; unknown where it is not written as it is read.
  std::size_t text_offset(std::size_t at, const std::string& text) const {
    if (at == Node::kUnknown) return at;
    std::string_view rest = text_.substr(at);
    const bool is_block = rest.starts_with("'''") || rest.starts_with("\"\"\"");
    std::size_t start = at + (is_block ? 3 : 1);
    if (is_block && text_.substr(start).starts_with("\r\n")) ++start;
    if (is_block && text_.substr(start).starts_with("\n")) ++start;
    return text_.substr(start).starts_with(text) ? start : Node::kUnknown;
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
};

class Builder {
 public:
  explicit Builder(std::shared_ptr<const Document> document)
      : document_(std::move(document)), lines_(document_->text) {}

  Node table(const toml::table& table, const std::string& key, std::size_t at) const {
    Node node(Node::Kind::table, document_, key);
    node.set_place(at, Node::kUnknown);
    // toml++ sorts by name.
    std::vector<std::pair<const toml::key*, const toml::node*>> members;
    for (const auto& [name, value] : table) members.emplace_back(&name, &value);
    const auto place = [&](const auto& member) {
      return lines_.offset(member.first->source().begin);
    };
    std::ranges::stable_sort(members, {}, place);
    for (const auto& member : members) {
      const std::string name(member.first->str());
      const std::string path = key.empty() ? name : format("{}.{}", key, name);
      // A table stands where its name does; a value where it begins.
      Node value = made(*member.second, path, place(member));
      value.set_key_place(place(member));
      node.add_member(name, std::move(value));
    }
    return node;
  }

 private:
  Node made(const toml::node& value, const std::string& key, std::size_t name_at) const {
    if (const auto* const table = value.as_table()) return this->table(*table, key, name_at);
    const std::size_t at = lines_.offset(value.source().begin);
    if (const auto* const array = value.as_array()) return list(*array, key, at);
    Node node(Node::Kind::text, document_, key);
    std::size_t text_at = Node::kUnknown;
    if (const auto* const text = value.as_string()) {
      node.set_text(text->get());
      text_at = lines_.text_offset(at, text->get());
    } else if (const auto* const integer = value.as_integer()) {
      node = Node(Node::Kind::integer, document_, key);
      node.set_integer(integer->get());
    } else if (const auto* const real = value.as_floating_point()) {
      node = Node(Node::Kind::real, document_, key);
      node.set_real(real->get());
    } else if (const auto* const flag = value.as_boolean()) {
      node = Node(Node::Kind::flag, document_, key);
      node.set_integer(flag->get());
    } else {
      node.set_place(at, text_at);
      node.fail("dates and times mean nothing in a manifest");
    }
    node.set_place(at, text_at);
    return node;
  }

  Node list(const toml::array& array, const std::string& key, std::size_t at) const {
    Node node(Node::Kind::list, document_, key);
    node.set_place(at, Node::kUnknown);
    for (std::size_t i = 0; i < array.size(); ++i) {
      node.add_item(
          made(array[i], format("{}[{}]", key, i), lines_.offset(array[i].source().begin)));
    }
    return node;
  }

  std::shared_ptr<const Document> document_;
  Lines lines_;
};

}  // namespace

Node tree_of_toml(std::shared_ptr<const Document> document) {
  toml::table table;
  try {
    table = toml::parse(std::string_view(document->text), std::string_view(document->file));
  } catch (const toml::parse_error& error) {
    Node place(Node::Kind::text, document, {});
    const std::size_t at = Lines(document->text).offset(error.source().begin);
    place.set_place(at, at);
    place.fail(error.description());
  } catch (const BrokenToml&) {
    throw Error(format("{}: this is no TOML: look for a header, a key or a value that has no end",
                       document->file));
  }
  return Builder(document).table(table, {}, 0);
}

}  // namespace autotune
