// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/value_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostWords = 1000;  // each becomes a macro in every source
constexpr const char* kNoRise = "the values do not rise: use a larger one";
constexpr const char* kTooMany = "these are more than 65535 values";

void expect_few_words(const Node& node, const std::string& name, std::size_t words) {
  if (words <= kMostWords) return;
  node.fail(format("{} has more than {} words: number them instead", name, kMostWords));
}

/// `unsigned_int` for `unsigned int`.
std::string word_of(const std::string& text) {
  std::string word;
  for (const char c : text) word += is_in_identifier(c) ? c : '_';
  return is_identifier(word) ? word : '_' + word;
}

double number_of(const Node& node) {
  const Value value = node.value();  // refuses what is not finite
  if (value.is_word()) node.fail("expected a number");
  return value.number();
}

/// Twelve digits, so that 0.1 + 2 * 0.1 is 0.3.
double rounded(double value) { return std::stod(format("{:.12g}", value)); }

std::vector<Value> real_range(const Node& node, const Node& by, bool by_factor) {
  const double from = number_of(node["from"]), to = number_of(node["to"]), change = number_of(by);
  if (!(change > (by_factor ? 1 : 0))) by.fail(kNoRise);
  if (by_factor && !(from > 0)) node.fail("a factor needs values above 0");
  if (to < from) node.fail(format("{} to {} goes down", from, to));
  const double slack = 1e-9 * (by_factor ? to : change);
  std::vector<Value> values;
  for (std::size_t i = 0;; ++i) {
    const auto steps = static_cast<double>(i);
    const double value = by_factor ? from * std::pow(change, steps) : from + steps * change;
    if (!(value <= to + slack)) return values;
    const double shown = rounded(value);
    const bool rises = values.empty() || values.back().real() < shown;
    if (!rises) by.fail(kNoRise);
    if (values.size() == kMostValues) node.fail(kTooMany);
    values.emplace_back(shown);
  }
}

}  // namespace

const char* kind_of(const Value& value) {
  return value.is_word() ? "word" : value.is_real() ? "real number" : "integer";
}

std::vector<Value> listed_values(const Node& node, const std::string& name) {
  std::vector<Value> values;
  std::set<Value> known;
  const std::vector<Node>& items = node.items(1, kMostValues);
  const bool real =
      std::ranges::any_of(items, [](const Node& item) { return item.is(Node::Kind::real); });
  for (const Node& item : items) {
    Value value = item.value();
    if (real && value.is_integer()) value = value.number();
    if (!known.insert(value).second) item.fail(format("{} is listed twice", value.text()));
    if (value.is_word()) expect_few_words(node, name, known.size());
    if (!values.empty() && value.is_word() != values.front().is_word()) {
      item.fail(format("{} has the {} {} and the {} {}: use numbers only or words only", name,
                       kind_of(values.front()), values.front().text(), kind_of(value),
                       value.text()));
    }
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Value> listed_texts(const Node& node, const std::string& name, WordTexts& texts) {
  std::vector<Value> values;
  std::vector<std::string> given;
  for (const Node& item : node.items(1, kMostValues)) {
    if (!item.is(Node::Kind::text)) item.fail("only words can be text or types");
    const std::string text = item.text();
    if (trimmed(text).empty() || text.find('\n') != std::string::npos) {
      item.fail("a text for the source has one line that is not empty");
    }
    Value word = is_identifier(text) ? text : word_of(text);
    const auto known = std::ranges::find(values, word);
    if (known != values.end()) {
      const std::string& other = given[static_cast<std::size_t>(known - values.begin())];
      item.fail(other == text ? format("{} is listed twice", text)
                              : format("{} has the same name as another value, {}: leave one out",
                                       text, other));
    }
    if (word.word() != text) texts[word.word()] = text;
    given.push_back(text);
    expect_few_words(node, name, values.size());
    values.push_back(std::move(word));
  }
  return values;
}

bool is_interval(const Node& node) {
  return node.is(Node::Kind::text) && node.text().find("..") != std::string::npos;
}

namespace {

struct Range {
  std::int64_t from = 0;
  std::optional<std::int64_t> to = {};  // absent: an expression
  std::int64_t change = 1;
  bool by_factor = false;
};

std::optional<std::int64_t> integer_in(std::string_view text) {
  const Value value = parse_value(trimmed(text));
  return value.is_integer() ? std::optional(value.integer()) : std::nullopt;
}

Range interval_of(const Node& node) {
  const std::string text = node.text();
  const std::size_t dots = text.find("..");
  const auto from = integer_in(std::string_view(text).substr(0, dots));
  if (!from) {
    node.fail("a range starts at an integer, as in \"1..N\": write a constraint for another start");
  }
  return {*from, integer_in(std::string_view(text).substr(dots + 2))};
}

std::vector<Value> integers_of(const Node& node, const Range& range) {
  const bool is_open = !range.to;
  const std::int64_t to = range.to.value_or(std::numeric_limits<std::int32_t>::max());
  if (to < range.from) node.fail(format("{} to {} goes down", range.from, to));
  std::vector<Value> values;
  for (std::int64_t value = range.from; value <= to;) {
    if (is_open && values.size() == kMostValues) break;
    values.emplace_back(value);
    if (values.size() > kMostValues) node.fail(kTooMany);
    const bool ends = range.by_factor ? __builtin_mul_overflow(value, range.change, &value)
                                      : __builtin_add_overflow(value, range.change, &value);
    if (ends) break;
  }
  return values;
}

}  // namespace

std::optional<Excerpt> sized_end(const Node& range) {
  if (is_interval(range)) {
    const std::string text = range.text();
    const std::size_t end = text.find("..") + 2;
    if (integer_in(std::string_view(text).substr(end))) return std::nullopt;
    return Excerpt{text.substr(end), range, end};
  }
  const Node* const to = range.find("to");
  if (!to || !to->is(Node::Kind::text)) return std::nullopt;
  return excerpt_of(*to);
}

std::vector<Value> ranged_values(const Node& node) {
  if (is_interval(node)) return integers_of(node, interval_of(node));
  if (node.has("factor") == node.has("step")) node.fail("give \"factor\" or \"step\"");
  const bool by_factor = node.has("factor"), is_open = sized_end(node).has_value();
  const Node& by = node[by_factor ? "factor" : "step"];
  const auto is_real = [](const Node& each) { return each.is(Node::Kind::real); };
  if (is_open && (is_real(node["from"]) || is_real(by))) {
    node["to"].fail("only a range of integers can end at an expression: give a number");
  }
  if (is_real(node["from"]) || is_real(node["to"]) || is_real(by)) {
    return real_range(node, by, by_factor);
  }
  Range range{node["from"].integer(), {}, by.integer(), by_factor};
  if (!is_open) range.to = node["to"].integer();
  if (range.change < (by_factor ? 2 : 1)) by.fail(kNoRise);
  if (by_factor && range.from < 1) node.fail("a factor needs values of 1 or more");
  return integers_of(node, range);
}

bool is_text(const Node& node) {
  const Node* const as = node.find("as");
  return as && as->text() == "text";
}

bool is_typed(const std::vector<Value>& values) {
  return std::ranges::all_of(
      values, [](const Value& value) { return element_type(value.text()).has_value(); });
}

WordForm form_of(const Node& node, const std::vector<Value>& values) {
  const Node* const as = node.find("as");
  if (!as) return WordForm::number;
  const std::string text = as->text();
  if (text != "text" && text != "type") as->fail("expected \"text\" or \"type\"");
  if (!values.front().is_word()) as->fail("only words can be text or types");
  if (text == "text") return WordForm::text;
  if (!is_typed(values)) as->fail(format("the types are {}", element_types()));
  return WordForm::type;
}

}  // namespace autotune
