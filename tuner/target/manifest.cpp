// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/manifest.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "tuner/cache/directives.hpp"
#include "tuner/cache/included_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/target/fingerprint.hpp"
#include "tuner/target/reading.hpp"
#include "tuner/target/redefinitions.hpp"
#include "tuner/target/source_pieces.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLongestIncluded = std::uint64_t{16} << 20;

void expect_keys(const Node& root) {
  root.expect_keys(
      {"manifest",  "generate",    "types",    "name",     "description",  "source",
       "include",   "options",     "sizes",    "settings", "family",       "parameters",
       "default",   "constraints", "let",      "defines",  "bake_sizes",   "size_macros",
       "arguments", "workspace",   "launch",   "main",     "kernels",      "tensor_maps",
       "reference", "parts",       "families", "work",     "resources",    "model",
       "prepare",   "check",       "textures", "extends",  "free",         "requires",
       "build",     "run",         "time",     "limit",    "empty_headers"},
      {"use"});
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

std::vector<std::string> generator_words(const Node& root) {
  std::vector<std::string> command;
  const Node* const generate = root.find("generate");
  if (!generate) return command;
  for (const Node& word : generate->items(1)) command.push_back(word.text());
  if (root["source"].is(Node::Kind::list)) {
    root["source"].fail("a generated source is one file: name that which \"generate\" writes");
  }
  return command;
}

void require_generated(const fs::path& file, const Node& source) {
  if (fs::exists(file)) return;
  source.fail(format("{} does not exist yet: autotune check and autotune tune run the generator",
                     file.string()));
}

/// Where `#include "…"` finds files.
void add_folder(Target& target, const fs::path& folder) {
  auto& folders = target.include_folders;
  if (std::ranges::find(folders, folder) == folders.end()) folders.push_back(folder);
}

/// What belongs to kernels.
constexpr std::array kKeysOfKernels = {
    "kernels", "launch",      "main",     "families",   "family",  "parts", "workspace",  "options",
    "defines", "tensor_maps", "textures", "bake_sizes", "prepare", "check", "size_macros"};

/// What headers are read for.
struct HeaderRules {
  const std::vector<std::string>& empty;
  Words parameters = {};
  /// Headers that were found to stay as they are, with the folders of what they include.
  std::set<std::pair<fs::path, std::vector<fs::path>>> plain = {};
};

/// The text with the source's own headers that have host code, or a value of a parameter, in place
/// of their first #include, so that these are left out of them, too. The same text if there are
/// none.
std::string with_host_headers(const std::string& text, const std::string& name,
                              const std::vector<fs::path>& folders, HeaderRules& rules,
                              std::set<fs::path>& done) {
  const MaskedSource parts = masked(text);
  const std::vector<std::string_view> directives = split(parts.directives, '\n');
  const std::vector<std::string_view> lines = split(text, '\n');
  std::string all;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::string_view rest = trimmed(directives[i]).starts_with('#') ? trimmed(lines[i]) : "";
    if (!rest.empty()) rest = trimmed(rest.substr(1));
    const bool includes = take_identifier(rest) == "include";
    const HeaderName header = includes ? header_name(trimmed(rest)) : HeaderName{};
    std::string inner;
    bool is_there = std::ranges::find(rules.empty, header.name) != rules.empty.end();
    for (const fs::path& folder : folders) {
      const fs::path file = folder / header.name;
      std::error_code failed;
      if (is_there || header.name.empty() || !fs::is_regular_file(file, failed)) continue;
      if (is_there = done.contains(file); is_there) break;
      std::vector<fs::path> beside = folders;
      if (beside.front() != file.parent_path()) beside.insert(beside.begin(), file.parent_path());
      if (rules.plain.contains({file, beside})) break;
      const std::string own = read_text_file(file, kLongestIncluded).text;
      std::set<fs::path> inside = done;
      inside.insert(file);
      inner = with_host_headers(own, header.name, beside, rules, inside);
      const bool is_same = inner == own && !has_own_value(own, rules.parameters);
      if (is_same && without_host_code(own).text == own) inner.clear();
      if (inner.empty()) {
        rules.plain.emplace(file, beside);
      } else {
        done = inside;
      }
      break;
    }
    if (i > 0) all += '\n';
    if (!inner.empty()) {
      all += format("#line 1 \"{}\"\n{}\n#line {} \"{}\"", header.name, inner, i + 2, name);
    } else if (!is_there) {
      all += lines[i];
    }
  }
  return all;
}

/// The line of a text with #line directives, as `file:line`.
std::string place_in(std::string_view text, std::size_t line, std::string file) {
  std::size_t number = 0;
  for (std::string_view each : split(text, '\n')) {
    if (line-- == 0) break;
    ++number;
    if (!each.starts_with("#line ")) continue;
    each.remove_prefix(6);
    const std::size_t quote = each.find('"');
    number = static_cast<std::size_t>(std::stoul(std::string(each))) - 1;
    file = each.substr(quote + 1, each.rfind('"') - quote - 1);
  }
  return format("{}:{}", file, number);
}

/// The text of a source, without its host code.
std::string device_code(const fs::path& file, const Node& source,
                        const std::vector<fs::path>& more_folders, Target& target,
                        HeaderRules& rules) {
  std::vector<fs::path> folders = {file.parent_path()};
  folders.insert(folders.end(), more_folders.begin(), more_folders.end());
  const std::string name = file.filename().string();
  std::set<fs::path> done;
  const std::string text = with_host_headers(text_of(file, source), name, folders, rules, done);
  DeviceCode code = without_host_code(text);
  if (code.text == text) return text;
  Words named;
  for (const IncludedFile& each : included(text, folders).files) add_device_words(each.text, named);
  code = without_host_code(text, named);
  for (const LeftOut& each : code.left_out) {
    target.host_code.push_back(format("{} ({})", each.name, place_in(text, each.line, name)));
  }
  return std::move(code.text);
}

/// The folders of `include`.
std::vector<fs::path> include_folders(const Node& root, const fs::path& folder) {
  std::vector<fs::path> folders;
  for (const Node& item : root.items_of("include")) {
    folders.push_back((folder / item.text()).lexically_normal());
  }
  return folders;
}

void read_source(const Node& root, const fs::path& folder, Target& target) {
  const std::vector<fs::path> more = include_folders(root, folder);
  for (const Node& item : root.items_of("empty_headers"))
    target.empty_headers.push_back(item.text());
  HeaderRules rules{target.empty_headers};
  for (const auto& [name, value] : root.members_of("parameters")) rules.parameters.insert(name);
  for (const Node& source : root["source"].one_or_more(kMostItems)) {
    const fs::path file = folder / source.text();
    if (!generator_words(root).empty()) require_generated(file, source);
    if (target.source_path.empty()) {
      target.source_path = file;
    } else {
      target.source_text += format("\n#line 1 \"{}\"\n", file.filename().string());
    }
    target.source_text += runs_commands(root) ? text_of(file, source)
                                              : device_code(file, source, more, target, rules);
    add_folder(target, file.parent_path());
  }
  target.include_folders.insert(target.include_folders.end(), more.begin(), more.end());
  if (const Node* const options = root.find("options")) {
    for (const Node& item : options->items()) {
      if (!is_configured(item)) target.options.push_back(item.text());
    }
  }
}

/// The sources of families and of the parts that they use, from the folders of their files.
void read_family_sources(const Reading& reading, Target& target) {
  HeaderRules rules{target.empty_headers};
  for (const ManifestScope& scope : reading.scopes) {
    if (!scope.guard) continue;
    FamilySource& own = target.family_sources.emplace_back();
    for (const Node* const sources : scope.all("source")) {
      for (const Node& source : sources->one_or_more(kMostItems)) {
        own.path = folder_of(source.document().file) / source.text();
        own.text += format("\n#line 1 \"{}\"\n", own.path.filename().string());
        own.text += device_code(own.path, source, {}, target, rules);
        add_folder(target, own.path.parent_path());
      }
    }
  }
}

void read_work(Reading& reading, Target& target) {
  const Node* const work = reading.root.find("work");
  if (!work) return;
  for (const Definition& each : definitions_of(*work)) {
    if (each.name != "flops" && each.name != "bytes") {
      each.value.fail(format("there is no {} of a call (flops, bytes)", each.name));
    }
    (each.name == "flops" ? target.flops : target.bytes) =
        reading.names.expression(each.value, NameLevel::problem);
  }
}

/// The estimate of the configuration's family, else of the target, else 0.
void read_resources(Reading& reading, Target& target) {
  for (const ManifestScope& scope : reading.scopes) {
    for (const Node* const block : scope.all("resources")) {
      for (const Definition& each : definitions_of(*block)) {
        if (each.name != "registers" && each.name != "shared_bytes") {
          each.value.fail(format("there is no resource {} (registers, shared_bytes)", each.name));
        }
        auto& estimate = each.name == "registers" ? target.registers : target.shared_bytes;
        Expression own = reading.names.integer(each.value, NameLevel::configuration, scope.name);
        if (scope.guard) {
          own = Expression::choice(*scope.guard, own, estimate.value_or(Expression::constant(0)));
        }
        estimate = own;
      }
    }
  }
}

/// Lines of a family precede those of its parts and of the target.
void read_model(Reading& reading, Target& target) {
  for (const ManifestScope& scope : reading.scopes) {
    for (const Node* const block : scope.all("model")) {
      for (const Definition& each : definitions_of(*block)) {
        const Expression value =
            reading.names.expression(each.value, NameLevel::configuration, scope.name);
        target.model.insert(target.model.begin(), {each.name, value, false, scope.guard});
      }
    }
  }
}

/// The families that a manifest removes from the one that it extends.
std::set<std::string> removed_families(const Node& root) {
  std::set<std::string> removed;
  const Node* const families = root.find("families");
  if (!families || !families->is(Node::Kind::table)) return removed;
  for (const auto& [name, node] : families->members()) {
    if (node.is(Node::Kind::flag)) removed.insert(name);
  }
  return removed;
}

/// `removed` are families that the source may know all the same.
Target read(Node root, const fs::path& file, const fs::path& folder,
            const std::set<std::string>& removed) {
  Target target;
  target.manifest = file;
  target.name = root["name"].identifier();
  if (const Node* const node = root.find("description")) target.description = node->text();
  read_source(root, folder, target);
  Reading reading(std::move(root), folder);
  read_family_sources(reading, target);
  read_problem(reading, target);
  read_parameters(reading, target);
  declare_handles(reading);
  read_definitions(reading, target);
  read_rules(reading, target);
  read_conditions(reading, target);
  read_space(reading, target);
  read_default(reading, target);
  read_arguments(reading, target);
  read_launches(reading, target);
  read_configured_options(reading, target);
  read_work(reading, target);
  read_resources(reading, target);
  read_model(reading, target);
  if (target.build) return target;  // no macros
  refuse_equal_macros(reading.root, target);
  replace_own_values(target);
  target.system_includes = leading_system_includes(target);
  const Included files = included(all_sources(target), target.include_folders, target.options);
  pass_template_parameters(target, files);
  qualify_entries(target, files);
  refuse_redefinitions(target, files);
  refuse_unknown_conditions(target, files, removed);
  return target;
}

/// A text that begins as JSON does, which TOML never does, is of format 1.
void refuse_format_1(std::string_view text, const fs::path& file) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '/')) return;
  throw Error(
      format("{0}: this manifest is in JSON, format 1, which is no longer read: `autotune convert "
             "OLD.target.json` writes it in format 2",
             file.string()));
}

/// Of a manifest.
std::string text_of(const fs::path& file) {
  FileText read = read_text_file(file, kLargestFile);
  if (read.refusal.empty()) return std::move(read.text);
  throw Error(format("{}: cannot be read: {}", file.string(), read.refusal));
}

}  // namespace

bool runs_commands(const Node& root) {
  if (!root.has("run")) {
    for (const char* key : {"build", "time", "limit"}) {
      if (const Node* const node = root.find(key)) {
        node->fail(format("\"{}\" belongs to a target that is a program: give \"run\", too", key));
      }
    }
    return false;
  }
  for (const char* key : kKeysOfKernels) {
    if (const Node* const node = root.find(key)) {
      node->fail(
          format("a program, which \"run\" starts, has no \"{}\": pass what it needs by "
                 "{{NAME}} in \"build\" or \"run\"",
                 key));
    }
  }
  return true;
}

namespace {

Target read_document(std::string text, const fs::path& file) {
  const fs::path folder = folder_of(file);
  refuse_format_1(text, file);
  Node root =
      tree_of_toml(std::make_shared<const Document>(Document{file.string(), std::move(text)}));
  require_version(root);
  const std::set<std::string> removed = removed_families(root);
  root = assembled(std::move(root));
  expect_keys(root);
  Target target = read(std::move(root), file, folder, removed);
  target.fingerprint = measurement_fingerprint(target);
  target.space_fingerprint = space_fingerprint(target);
  return target;
}

}  // namespace

Target load_manifest(const fs::path& file) {
  std::string text = text_of(file);
  if (file.extension() == ".json") refuse_format_1(text, file);
  if (file.extension() != ".toml") {
    throw Error(format("{}: this is not a manifest: name a .target.toml", file.string()));
  }
  return read_document(std::move(text), file);
}

std::optional<Generator> generator_of(const fs::path& file) {
  if (file.extension() != ".toml") return std::nullopt;
  const Node root =
      tree_of_toml(std::make_shared<const Document>(Document{file.string(), text_of(file)}));
  const std::vector<std::string> command = generator_words(root);
  if (command.empty()) return std::nullopt;
  const fs::path folder = folder_of(file);
  return Generator{file, folder, folder / root["source"].text(), command};
}

Target read_manifest(std::string_view text, const fs::path& file) {
  return read_document(std::string(text), file);
}

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
  for (const char* key :
       {"name", "description", "source", "include", "empty_headers", "generate"}) {
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
