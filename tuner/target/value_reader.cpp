// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/value_reader.hpp"

#include <algorithm>
#include <set>

#include "tuner/text/format.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMostValues = 65535;
constexpr std::size_t kMostWords = 1000;  // each becomes a macro in every source

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
    if (value.is_word() && known.size() > kMostWords) {
      node.fail(format("{} has more than {} words: number them instead", name, kMostWords));
    }
    if (!values.empty() && value.is_word() != values.front().is_word()) {
      item.fail(format("{} has the {} {} and the {} {}: use numbers only or words only", name,
                       kind_of(values.front()), values.front().text(), kind_of(value),
                       value.text()));
    }
    values.push_back(std::move(value));
  }
  return values;
}

std::vector<Value> ranged_values(const Node& node) {
  const std::int64_t from = node["from"].integer(), to = node["to"].integer();
  if (node.has("factor") == node.has("step")) node.fail("give \"factor\" or \"step\"");
  const bool by_factor = node.has("factor");
  const Node& by = node[by_factor ? "factor" : "step"];
  const std::int64_t change = by.integer();
  if (change < (by_factor ? 2 : 1)) by.fail("the values do not rise: use a larger one");
  if (by_factor && from < 1) node.fail("a factor needs values of 1 or more");
  if (to < from) node.fail(format("{} to {} goes down", from, to));
  std::vector<Value> values;
  for (std::int64_t value = from; value <= to;) {
    values.emplace_back(value);
    if (values.size() > kMostValues) node.fail("these are more than 65535 values");
    const bool ends = by_factor ? __builtin_mul_overflow(value, change, &value)
                                : __builtin_add_overflow(value, change, &value);
    if (ends) break;
  }
  return values;
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
