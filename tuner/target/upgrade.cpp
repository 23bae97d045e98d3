// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/upgrade.hpp"

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

void replace(Node& root, std::string_view name, Node node) {
  root.remove(name);
  root.add_member(std::string(name), std::move(node));
}

/// `[{"name": "BM", "values": […]}]` as `{BM = {values = […]}}`.
Node parameters(const Node& list) {
  Node table = list.empty(Node::Kind::table);
  for (Node item : list.items()) {
    item.expect_keys({"name", "values", "when", "run_time"});
    (void)item["values"];
    const std::string name = item["name"].identifier();
    item.remove("name");
    table.add_member(name, std::move(item));
  }
  return table;
}

/// `[{"entry": "f", …}]` as `{f = {entry = "f", …}}`; an entry may occur several times.
Node kernels(const Node& list) {
  Node table = list.empty(Node::Kind::table);
  for (const Node& item : list.items(1)) table.add_member(item["entry"].identifier(), item);
  return table;
}

/// `"default"` as `{configuration = "default"}`.
Node reference(Node node) {
  if (node.is(Node::Kind::text)) {
    if (node.text() != "default") {
      node.fail("expected \"default\", {\"kernels\": …} or {\"file\": …}");
    }
    Node table = node.empty(Node::Kind::table);
    table.add_member("configuration", std::move(node));
    return table;
  }
  node.expect_keys({"kernels", "file", "float64_outputs"});
  if (const Node* const list = node.find("kernels")) replace(node, "kernels", kernels(*list));
  return node;
}

}  // namespace

Node upgraded(Node root) {
  root.expect_keys({"manifest", "name",       "description", "source",      "include", "sizes",
                    "settings", "parameters", "constraints", "default",     "defines", "bake_sizes",
                    "options",  "arguments",  "workspace",   "tensor_maps", "kernels", "reference",
                    "work",     "resources",  "model"});
  if (const Node* const list = root.find("parameters")) {
    replace(root, "parameters", parameters(*list));
  }
  replace(root, "kernels", kernels(root["kernels"]));
  replace(root, "reference", reference(root["reference"]));
  return root;
}

}  // namespace autotune
