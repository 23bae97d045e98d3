// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/extension.hpp"

#include <memory>

#include "tuner/target/document.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

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

/// A file beside the manifest, or another path from its folder.
fs::path file_of(const Node& node) {
  return fs::path(node.document().file).parent_path() / node.text();
}

Node tree_of(const fs::path& file, const Node& node) {
  return tree_of_toml(
      std::make_shared<const Document>(Document{file.string(), text_of(file, node)}));
}

/// Adds the members of a file's table `key`, if it has one, to those of other files.
void add_members(Node& all, const Node& file, const char* key) {
  const Node* const table = file.find(key);
  if (!table) return;
  for (const auto& [name, node] : table->members()) {
    if (const Node* const other = all.find(name)) {
      node.fail(format("{} of this name are in {}, too: rename one", key, other->document().file));
    }
    all.add_member(name, node);
  }
}

Node with_family_files(Node root) {
  const Node* const list = root.find("families");
  if (!list || !list->is(Node::Kind::list)) return root;
  const Node files = *list;
  Node families = files.empty(Node::Kind::table), parts = files.empty(Node::Kind::table);
  add_members(parts, root, "parts");
  for (const Node& each : files.items(1)) {
    const Node file = tree_of(file_of(each), each);
    file.expect_keys({"families", "parts"});
    if (!file.has("families") && !file.has("parts")) {
      each.fail(format("{} has neither [families.NAME] nor [parts.NAME]", each.text()));
    }
    add_members(families, file, "families");
    add_members(parts, file, "parts");
  }
  root.remove("families");
  root.remove("parts");
  root.add_member("families", std::move(families));
  root.add_member("parts", std::move(parts));
  return root;
}

/// The manifest merged over the one that it extends.
Node with_base(const Node& root) {
  const Node& extends = root["extends"];
  const fs::path file = file_of(extends);
  Node base = tree_of(file, extends);
  require_version(base);
  if (base.has("extends")) {
    extends.fail(format("{} extends another manifest itself: name that one", file.string()));
  }
  for (const char* key : {"name", "description", "source", "include", "generate"}) {
    base.remove(key);
  }
  return merged(with_family_files(std::move(base)), root);
}

}  // namespace

std::string text_of(const fs::path& file, const Node& node) {
  FileText read = read_text_file(file, kLargestFile);
  if (!read.refusal.empty()) {
    node.fail(format("{} cannot be read: {}", file.string(), read.refusal));
  }
  return std::move(read.text);
}

void require_version(const Node& root) {
  if (!root.is(Node::Kind::table)) return;
  const Node& version = root["manifest"];
  if (version.integer() == 2) return;
  version.fail(format("format {} is not known: a manifest has the number 2", version.integer()));
}

Node assembled(Node root) {
  root = with_family_files(std::move(root));
  return root.has("extends") ? with_base(root) : root;
}

}  // namespace autotune
