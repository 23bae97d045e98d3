// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/node.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

std::string_view kind_of(Node::Kind kind) {
  static constexpr std::array<std::string_view, 6> kNames{
      "a table",      "a list", "a text", "an integer", "a number with a fraction or an exponent",
      "true or false"};
  return kNames[static_cast<std::size_t>(kind)];
}

/// Bytes of a line that are shown, in all and before the mistake.
constexpr std::size_t kWidest = 120, kBeforeMistake = 100;

/// False for the continuation bytes of a UTF-8 character.
bool begins_letter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

/// The part of a line around a mistake, with a caret below it; `column` in bytes. It begins and
/// ends between characters.
std::string excerpt(std::string_view line, std::size_t column, std::size_t number) {
  const auto boundary = [&](std::size_t at) {
    while (at < line.size() && !begins_letter(line[at])) ++at;
    return at;
  };
  const std::size_t from = boundary(column > kBeforeMistake ? column - kBeforeMistake : 0);
  std::string below;
  for (const char c : line.substr(from, column - from)) {
    if (begins_letter(c)) below += c == '\t' ? '\t' : ' ';
  }
  const std::string margin = format("{:>5} | ", number);
  return format("{}{}\n{}| {}^", margin, line.substr(from, boundary(from + kWidest) - from),
                std::string(margin.size() - 2, ' '), below);
}

/// Throws Error `FILE:LINE:COLUMN: what`, followed by the line.
[[noreturn]] void fail_in(const Document& document, std::size_t at, std::string_view what) {
  const std::string_view text = document.text;
  at = std::min(at, text.size());
  const std::size_t before = text.substr(0, at).rfind('\n');
  const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
  const std::string_view line = text.substr(start, text.find('\n', start) - start);
  const auto number = static_cast<std::size_t>(
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const auto column = 1 + std::ranges::count_if(text.substr(start, at - start), begins_letter);
  throw Error(format("{}:{}:{}: {}\n{}", document.file, number, column, what,
                     excerpt(line, at - start, number)));
}

/// Whether only the target itself has this key. TOML assigns a key after a [table] header to that
/// table, so this mistake is common.
bool is_of_targets(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"manifest", "source",    "include",    "options",
                                               "sizes",    "settings",  "families",   "arguments",
                                               "work",     "reference", "size_macros"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Defined here, where Member is complete.
Node::Node() = default;
Node::Node(Kind kind, std::shared_ptr<const Document> document, std::string key)
    : kind_(kind), document_(std::move(document)), key_(std::move(key)) {}
Node::Node(const Node&) = default;
Node::Node(Node&&) noexcept = default;
Node& Node::operator=(const Node&) = default;
Node& Node::operator=(Node&&) noexcept = default;
Node::~Node() = default;

void Node::fail(std::string_view what) const {
  if (at_ != kUnknown) fail_in(*document_, at_, what);
  throw Error(key_.empty() ? format("{}: {}", document_->file, what)
                           : format("{}: {}: {}", document_->file, key_, what));
}

void Node::fail_at(std::size_t offset, std::string_view what) const {
  if (!has_place()) fail(what);
  fail_in(*document_, text_at_ + offset, what);
}

void Node::expect_keys(std::initializer_list<std::string_view> keys,
                       std::initializer_list<std::string_view> later) const {
  if (!is(Kind::table)) fail(format("expected a table, got {}", kind_of(kind_)));
  for (const auto& [name, node] : members_) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) continue;
    Node place = node;
    place.key_ = key_;
    if (node.key_at_ != kUnknown) place.at_ = node.key_at_;
    if (std::find(later.begin(), later.end(), name) != later.end()) {
      place.fail(format("the key \"{}\" is not supported yet", name));
    }
    if (at_ != kUnknown && !key_.empty() && is_of_targets(name)) {
      place.fail(
          format("\"{}\" is a key of the target: such keys stand above the first [table]", name));
    }
    place.fail(format("there is no key \"{}\" ({})", name,
                      suggestion(name, std::vector<std::string>(keys.begin(), keys.end()))));
  }
}

const Node& Node::operator[](std::string_view name) const {
  if (const Node* const found = find(name)) return *found;
  fail(at_ == kUnknown || key_.empty() ? format("\"{}\" is missing", name)
                                       : format("{}: \"{}\" is missing", key_, name));
}

const Node* Node::find(std::string_view name) const {
  for (const Member& member : members_) {
    if (member.name == name) return &member.node;
  }
  return nullptr;
}

const std::vector<Node>& Node::items(std::size_t fewest, std::size_t most) const {
  if (!is(Kind::list)) fail(format("expected a list, got {}", kind_of(kind_)));
  if (items_.size() < fewest || items_.size() > most) {
    const std::string wanted = fewest == most           ? std::to_string(fewest)
                               : items_.size() < fewest ? format("{} or more", fewest)
                                                        : format("{} at most", most);
    fail(format("has {} items, expected {}", items_.size(), wanted));
  }
  return items_;
}

std::vector<Node> Node::one_or_more(std::size_t most) const {
  return is(Kind::list) ? items(1, most) : std::vector<Node>{*this};
}

const std::vector<Node>& Node::items_of(std::string_view name) const {
  static const std::vector<Node> none;
  const Node* const list = find(name);
  return list ? list->items() : none;
}

const std::vector<Node::Member>& Node::members_of(std::string_view name) const {
  static const std::vector<Member> none;
  const Node* const table = find(name);
  return table ? table->members() : none;
}

const std::vector<Node::Member>& Node::members() const {
  if (!is(Kind::table)) fail(format("expected a table, got {}", kind_of(kind_)));
  if (members_.size() > kMostItems) {
    fail(format("has {} members, expected {} at most", members_.size(), kMostItems));
  }
  for (const Member& member : members_) {
    if (!is_identifier(member.name)) {
      member.node.fail(
          format("\"{}\" is not a name: use letters, digits and _, a letter first", member.name));
    }
  }
  return members_;
}

std::string Node::text() const {
  if (!is(Kind::text)) fail(format("expected a text in quotes, got {}", kind_of(kind_)));
  return text_;
}

bool Node::flag() const {
  if (!is(Kind::flag)) fail(format("expected true or false, got {}", kind_of(kind_)));
  return integer_ != 0;
}

std::int64_t Node::integer() const {
  if (!is(Kind::integer)) fail(format("expected an integer, got {}", kind_of(kind_)));
  return integer_;
}

double Node::real() const {
  if (is(Kind::integer)) return static_cast<double>(integer_);
  if (!is(Kind::real)) fail(format("expected a number, got {}", kind_of(kind_)));
  return real_;
}

std::string Node::identifier() const {
  std::string name = text();
  if (!is_identifier(name)) {
    fail(format("\"{}\" is not a name: use letters, digits and _, a letter first", name));
  }
  return name;
}

Value Node::value() const {
  if (is(Kind::integer) || is(Kind::flag)) return integer_;
  if (is(Kind::real) && !std::isfinite(real_)) fail("expected a finite number");
  if (is(Kind::real)) return real_;
  if (!is(Kind::text)) fail(format("expected a number or a word, got {}", kind_of(kind_)));
  if (!parse_value(text_).is_word()) {
    fail(format("\"{}\" is a number: leave out the quotes", text_));
  }
  if (!is_identifier(text_)) {
    fail(format("\"{}\" is neither a number nor a word (letters, digits and _, a letter first)",
                text_));
  }
  return text_;
}

void Node::set_place(std::size_t at, std::size_t text_at) {
  at_ = at;
  text_at_ = text_at;
}

void Node::add_member(std::string name, Node node) {
  members_.push_back({std::move(name), std::move(node)});
}

void Node::remove(std::string_view name) {
  std::erase_if(members_, [&](const Member& member) { return member.name == name; });
}

Node Node::empty(Kind kind) const {
  Node node(kind, document_, key_);
  node.set_place(at_, kUnknown);
  return node;
}

}  // namespace autotune
