// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/json_places.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// What ends a number, `true`, `false` or `null`.
constexpr std::string_view kNumberEnds = ",]} \t\r\n/";

}  // namespace

JsonPlaces::JsonPlaces(std::shared_ptr<const Document> document) : document_(std::move(document)) {
  if (document_->text.starts_with("\xEF\xBB\xBF")) at_ = 3;  // a byte order mark
  read_value("");
}

void JsonPlaces::place(Node& node) const {
  const auto found = places_.find(node.key());
  if (found == places_.end()) return;
  const std::size_t at = found->second;
  // A text with escapes is longer in the document.
  const bool as_it_stands = node.is(Node::Kind::text) &&
                            document_->text.compare(at + 1, node.text().size(), node.text()) == 0;
  node.set_place(at, as_it_stands ? at + 1 : Node::kUnknown);
}

std::string_view JsonPlaces::written(const std::string& path) const {
  const auto found = places_.find(path);
  if (found == places_.end()) return {};
  const std::string_view rest = std::string_view(document_->text).substr(found->second);
  return rest.substr(0, rest.find_first_of(kNumberEnds));
}

void JsonPlaces::read_value(const std::string& path) {
  skip_spaces();
  places_[path] = at_;
  if (accept('{')) return read_object(path);
  if (accept('[')) return read_list(path);
  if (document_->text[at_] == '"') {
    read_quoted();
    return;
  }
  at_ = std::min(document_->text.find_first_of(kNumberEnds, at_), document_->text.size());
}

void JsonPlaces::read_object(const std::string& path) {
  std::set<std::string> names;
  skip_spaces();
  while (!accept('}')) {
    const std::size_t start = at_;
    const std::string name = read_quoted();
    const std::string own = path.empty() ? name : format("{}.{}", path, name);
    if (!names.insert(name).second) {
      Node twice(Node::Kind::text, document_, path);
      twice.set_place(start, Node::kUnknown);
      twice.fail(format("the key \"{}\" occurs twice in one object", name));
    }
    skip_spaces();
    accept(':');
    read_value(own);
    skip_spaces();
    accept(',');
    skip_spaces();
  }
}

void JsonPlaces::read_list(const std::string& path) {
  skip_spaces();
  for (std::size_t i = 0; !accept(']'); ++i) {
    read_value(format("{}[{}]", path, i));
    skip_spaces();
    accept(',');
    skip_spaces();
  }
}

/// Reads a text without its quotes. Escapes stay as they are written.
std::string JsonPlaces::read_quoted() {
  const std::string& text = document_->text;
  const std::size_t start = at_ + 1;
  std::size_t end = start;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  at_ = end + 1;
  return text.substr(start, end - start);
}

void JsonPlaces::skip_spaces() {
  const std::string& text = document_->text;
  for (;;) {
    while (at_ < text.size() && std::strchr(" \t\r\n", text[at_]) != nullptr) ++at_;
    if (text.compare(at_, 2, "//") == 0) {
      at_ = std::min(text.find('\n', at_), text.size());
    } else if (text.compare(at_, 2, "/*") == 0) {
      at_ = std::min(text.find("*/", at_ + 2), text.size() - 2) + 2;
    } else {
      return;
    }
  }
}

bool JsonPlaces::accept(char c) {
  if (at_ >= document_->text.size() || document_->text[at_] != c) return false;
  ++at_;
  return true;
}

}  // namespace autotune
