// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/extension.hpp"

namespace autotune {
namespace {

bool removes(const Node& node, const Node& other) {
  return node.is(Node::Kind::flag) && !node.flag() && !other.is(Node::Kind::flag);
}

Node merged(const Node& base, const Node& own) {
  if (!base.is(Node::Kind::table) || !own.is(Node::Kind::table)) return own;
  Node both = own.empty(Node::Kind::table);
  for (const auto& [name, node] : base.members()) {
    const Node* const instead = own.find(name);
    if (!instead) {
      both.add_member(name, node);
    } else if (!removes(*instead, node)) {
      both.add_member(name, merged(node, *instead));
    }
  }
  for (const auto& [name, node] : own.members()) {
    if (!base.has(name)) both.add_member(name, node);
  }
  return both;
}

}  // namespace

Node extended(Node base, const Node& own) {
  for (const char* key : {"name", "description", "alternative", "source", "include", "generate"}) {
    base.remove(key);
  }
  return merged(base, own);
}

}  // namespace autotune
