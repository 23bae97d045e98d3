// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/convert.hpp"

#include <algorithm>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

std::string key_text(const std::string& key) {
  const bool is_bare = !key.empty() && std::ranges::all_of(key, is_in_identifier);
  return is_bare ? key : Json(key).dump();
}

/// On one line. JSON's numbers, flags and texts are TOML's, too.
std::string value_text(const Json& value) {
  if (value.is_null()) throw Error("a manifest has no null: leave the key out");
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, item] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += key_text(key) + " = ";
    text += value_text(item);
  }
  if (value.is_array()) return "[" + text + "]";
  return text.empty() ? "{}" : "{ " + text + " }";
}

/// The member of an object in a list, which it then lacks.
std::string taken(Json& item, const char* key) {
  if (!item.is_object() || !item.contains(key) || !item[key].is_string()) {
    throw Error(format("a parameter or kernel lacks \"{}\": is this a manifest of format 1?", key));
  }
  std::string text = item[key].get<std::string>();
  item.erase(key);
  return text;
}

/// `[{"name": "BM", "values": […]}]` as `{BM = […]}`.
Json parameters_of(const Json& list) {
  Json table = Json::object();
  for (Json item : list) {
    const std::string name = taken(item, "name");
    const bool is_plain = item.size() == 1 && item.contains("values");
    table[name] = is_plain ? item["values"] : item;
  }
  return table;
}

/// `[{"entry": "f", …}]` as `{f = {…}}`. An entry that occurs again has another key.
Json kernels_of(const Json& list) {
  Json table = Json::object();
  for (Json item : list) {
    const std::string entry = taken(item, "entry");
    std::string key = entry;
    for (int i = 2; table.contains(key); ++i) key = format("{}_{}", entry, i);
    if (key != entry) item["entry"] = entry;
    table[key] = std::move(item);
  }
  return table;
}

/// `"default"`, or a table whose kernels wrote double unless it said otherwise.
Json reference_of(Json reference) {
  if (!reference.is_object()) {
    Json table = Json::object();
    table["configuration"] = std::move(reference);
    return table;
  }
  const bool has_kernels = reference.contains("kernels");
  const bool is_double = reference.value("float64_outputs", has_kernels);
  reference.erase("float64_outputs");
  if (has_kernels) reference["kernels"] = kernels_of(reference["kernels"]);
  if (is_double) reference["outputs"] = "f64";
  return reference;
}

}  // namespace

std::string converted_manifest(const Json& manifest) {
  if (!manifest.is_object() || !manifest.contains("manifest") || manifest["manifest"] != 1) {
    throw Error("this is no manifest of format 1, which has \"manifest\": 1");
  }
  std::string text = "manifest = 2\n";
  for (const auto& [key, given] : manifest.items()) {
    if (key == "manifest") continue;
    const Json value = key == "parameters"  ? parameters_of(given)
                       : key == "kernels"   ? kernels_of(given)
                       : key == "reference" ? reference_of(given)
                                            : given;
    if (!value.is_object() || value.empty()) {
      text += format("{} = {}\n", key_text(key), value_text(value));
      continue;
    }
    for (const auto& [name, item] : value.items()) {
      text += format("{}.{} = {}\n", key_text(key), key_text(name), value_text(item));
    }
  }
  return text;
}

}  // namespace autotune
