// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "tuner/json/json.hpp"
#include "tuner/target/document.hpp"
#include "tuner/target/json_places.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

Node made(const Json& json, const JsonPlaces& places,
          const std::shared_ptr<const Document>& document, const std::string& key) {
  using Kind = Node::Kind;
  if (json.is_object()) {
    Node node(Kind::table, document, key);
    places.place(node);
    for (const auto& [name, value] : json.items()) {
      node.add_member(
          name, made(value, places, document, key.empty() ? name : format("{}.{}", key, name)));
    }
    return node;
  }
  if (json.is_array()) {
    Node node(Kind::list, document, key);
    places.place(node);
    for (std::size_t i = 0; i < json.size(); ++i) {
      node.add_item(made(json[i], places, document, format("{}[{}]", key, i)));
    }
    return node;
  }
  Node node(json.is_number_integer() ? Kind::integer
            : json.is_number()       ? Kind::real
            : json.is_boolean()      ? Kind::flag
                                     : Kind::text,
            document, key);
  if (json.is_string()) node.set_text(json.get<std::string>());
  places.place(node);
  if (json.is_null()) node.fail("a manifest has no null: leave the key out");
  if (json.is_boolean()) node.set_integer(json.get<bool>());
  if (json.is_number_float()) node.set_real(json.get<double>());
  // The parser reads an integer beyond 64 bits as a real number.
  const std::string_view written = places.written(key);
  const bool is_too_large =
      json.is_number_unsigned()
          ? json.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}
          : json.is_number_float() && !written.empty() &&
                written.find_first_of(".eE") == std::string_view::npos;
  if (is_too_large) node.fail("the number does not fit into 64 bits");
  if (json.is_number_integer()) node.set_integer(json.get<std::int64_t>());
  return node;
}

}  // namespace

Node tree_of_json(std::shared_ptr<const Document> document) {
  const Json json = parse_json(document->text, document->file);
  return made(json, JsonPlaces(document), document, {});
}

}  // namespace autotune
