// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>

#include "tuner/core/error.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/document.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

Node made(const Json& json, const std::shared_ptr<const Document>& document,
          const std::string& key) {
  using Kind = Node::Kind;
  if (json.is_object()) {
    Node node(Kind::table, document, key);
    for (const auto& [name, value] : json.items()) {
      node.add_member(name, made(value, document, key.empty() ? name : format("{}.{}", key, name)));
    }
    return node;
  }
  if (json.is_array()) {
    Node node(Kind::list, document, key);
    for (std::size_t i = 0; i < json.size(); ++i) {
      node.add_item(made(json[i], document, format("{}[{}]", key, i)));
    }
    return node;
  }
  Node node(json.is_number_integer() ? Kind::integer
            : json.is_number()       ? Kind::real
            : json.is_boolean()      ? Kind::flag
                                     : Kind::text,
            document, key);
  if (json.is_null()) node.fail("null means nothing here: leave the key out");
  if (json.is_string()) node.set_text(json.get<std::string>());
  if (json.is_boolean()) node.set_integer(json.get<bool>());
  if (json.is_number_float()) node.set_real(json.get<double>());
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    node.fail("the number is too large");
  }
  if (json.is_number_integer()) node.set_integer(json.get<std::int64_t>());
  return node;
}

/// Refuses a key that stands twice in one object, where JSON would keep the last.
void refuse_duplicates(const Document& document) {
  std::vector<std::set<std::string>> open;
  const auto visit = [&](int, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(value.get<std::string>()).second) {
      throw Error(format("{}: the key {} stands twice in one object", document.file, value.dump()));
    }
    return true;
  };
  (void)Json::parse(document.text, visit, true, /*ignore_comments=*/true);
}

}  // namespace

Node tree_of_json(std::shared_ptr<const Document> document) {
  const Json json = parse_json(document->text, document->file);
  refuse_duplicates(*document);
  return made(json, document, {});
}

}  // namespace autotune
