// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/manifest.hpp"

#include <algorithm>
#include <set>

#include "tuner/core/error.hpp"
#include "tuner/target/fingerprint.hpp"
#include "tuner/target/launch_reader.hpp"
#include "tuner/target/names.hpp"
#include "tuner/target/node.hpp"
#include "tuner/target/redefinitions.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargestSource = std::uint64_t{64} << 20;
constexpr std::size_t kMostValues = 65535;
constexpr std::size_t kMostWords = 1000;  // each is a macro of every source

std::string text_of(const fs::path& file, const Node& node) {
  FileText read = read_text_file(file, kLargestSource);
  if (!read.refusal.empty()) {
    node.fail(format("{} cannot be read: {}", file.string(), read.refusal));
  }
  return std::move(read.text);
}

const char* kind_of(const Value& value) { return value.is_word() ? "word" : "integer"; }

/// Reads one document into a Target, keys in the order in which names become known.
class Reader {
 public:
  Reader(const Json& json, const fs::path& file)
      : root_(json, file.string()),
        folder_(file.has_parent_path() ? file.parent_path() : fs::path(".")) {
    target_.manifest = file;
  }

  Target read() {
    root_.expect_keys({"manifest",    "name",       "description", "source",      "include",
                       "sizes",       "settings",   "parameters",  "constraints", "default",
                       "defines",     "bake_sizes", "options",     "arguments",   "workspace",
                       "tensor_maps", "kernels",    "reference",   "work",        "resources",
                       "model"});
    read_version();
    target_.name = root_["name"].identifier();
    if (const auto node = root_.find("description")) target_.description = node->text();
    read_source();
    read_sizes_and_settings();
    read_parameters();
    read_defines();
    read_space();
    read_launches();
    read_figures();
    refuse_redefinitions(target_);
    target_.fingerprint = fingerprint_of(root_.json(), target_);
    return std::move(target_);
  }

 private:
  void read_version() {
    const Node node = root_["manifest"];
    if (!node.json().is_number_integer() || node.json() != kManifestVersion) {
      node.fail(format("format {} is not known: this autotune reads \"manifest\": {}",
                       node.json().dump(), kManifestVersion));
    }
  }

  void read_source() {
    const Node source = root_["source"];
    target_.source_path = folder_ / source.text();
    target_.source_text = text_of(target_.source_path, source);
    target_.include_folders.push_back(target_.source_path.parent_path());
    if (const auto include = root_.find("include")) {
      for (const Node& item : include->items()) {
        const fs::path folder = folder_ / item.text();
        if (!fs::is_directory(folder)) item.fail(format("{} is no folder", folder.string()));
        target_.include_folders.push_back(folder);
      }
    }
    if (const auto options = root_.find("options")) {
      for (const Node& item : options->items()) target_.options.push_back(item.text());
    }
  }

  void read_sizes_and_settings() {
    for (const Node& item : root_["sizes"].items(1)) {
      target_.sizes.push_back(names_.declare(item, item.identifier(), NameLevel::problem));
    }
    const auto settings = root_.find("settings");
    if (!settings) return;
    for (const auto& [name, node] : settings->members()) {
      target_.settings.push_back({names_.declare(node, name, NameLevel::problem),
                                  values_of(node, name, NameLevel::problem)});
      const std::vector<Value>& values = target_.settings.back().values;
      const bool typed = std::all_of(values.begin(), values.end(), [](const Value& value) {
        return element_type(value.text()).has_value();
      });
      if (typed) names_.declare(node, name + "_bytes", NameLevel::problem);
    }
  }

  void read_parameters() {
    const auto parameters = root_.find("parameters");
    if (!parameters) return;
    for (const Node& node : parameters->items()) {
      node.expect_keys({"name", "values", "when", "run_time"});
      const Node name = node["name"];
      Parameter parameter{names_.declare(name, name.identifier(), NameLevel::configuration),
                          values_of(node["values"], name.identifier(), NameLevel::configuration),
                          {},
                          false};
      if (const auto run_time = node.find("run_time")) parameter.run_time = run_time->flag();
      target_.parameters.push_back(std::move(parameter));
    }
  }

  /// A define that names no parameter, itself or through others, is one of the problem.
  void read_defines() {
    const auto defines = root_.find("defines");
    if (!defines) return;
    for (const auto& [name, node] : defines->members()) {
      Expression value = node.expression(names_.all());
      const bool of_problem = std::all_of(
          value.names().begin(), value.names().end(),
          [&](const std::string& each) { return names_.per_problem().names.contains(each); });
      const NameLevel level = of_problem ? NameLevel::problem : NameLevel::configuration;
      target_.defines.push_back({names_.declare(node, name, level), std::move(value)});
    }
  }

  void read_space() {
    for (std::size_t i = 0; i < target_.parameters.size(); ++i) {
      const auto when = root_["parameters"].items()[i].find("when");
      if (when) target_.parameters[i].when = when->expression(names_.all());
    }
    if (const auto constraints = root_.find("constraints")) {
      target_.constraints = constraints->expressions(names_.all(), 0, 2000);
    }
    if (const auto bake = root_.find("bake_sizes")) {
      target_.bake_sizes = bake->expression(names_.all());
    }
    read_default();
  }

  /// Parameters that are left out take their first value.
  void read_default() {
    for (const Parameter& parameter : target_.parameters) {
      target_.default_configuration.push_back({parameter.name, parameter.values.front()});
    }
    const auto chosen = root_.find("default");
    if (!chosen) return;
    for (const auto& [name, node] : chosen->members()) {
      std::size_t i = 0;
      while (i < target_.parameters.size() && target_.parameters[i].name != name) ++i;
      if (i == target_.parameters.size()) {
        node.fail(format("there is no such parameter ({})", suggestion(name, parameter_names())));
      }
      const Value value = node.value();
      const auto& values = target_.parameters[i].values;
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        node.fail(format("{} is none of the parameter's values", value.text()));
      }
      target_.default_configuration[i].value = value;
    }
  }

  void read_launches() {
    LaunchPart part = read_launch_part(root_, folder_, names_, target_.settings);
    target_.arguments = std::move(part.arguments);
    target_.workspace = std::move(part.workspace);
    target_.tensor_maps = std::move(part.tensor_maps);
    target_.kernels = std::move(part.kernels);
    target_.reference = std::move(part.reference);
  }

  void read_figures() {
    if (const auto work = root_.find("work")) {
      work->expect_keys({"flops", "bytes"});
      if (const auto flops = work->find("flops"))
        target_.flops = flops->expression(names_.per_problem());
      if (const auto bytes = work->find("bytes"))
        target_.bytes = bytes->expression(names_.per_problem());
    }
    if (const auto resources = root_.find("resources")) {
      resources->expect_keys({"registers", "shared_bytes"});
      if (const auto node = resources->find("registers")) {
        target_.registers = node->expression(names_.all());
      }
      if (const auto node = resources->find("shared_bytes")) {
        target_.shared_bytes = node->expression(names_.all());
      }
    }
    if (const auto model = root_.find("model")) {
      for (const auto& [name, node] : model->members()) {
        target_.model.push_back({name, node.expression(names_.all())});
      }
    }
  }

  /// Of the parameter or setting `name`: all integers or all words.
  std::vector<Value> values_of(const Node& node, const std::string& name, NameLevel level) {
    std::vector<Value> values;
    std::set<Value> known;
    for (const Node& item : node.items(1, kMostValues)) {
      Value value = item.value();
      if (!known.insert(value).second) item.fail(format("{} stands here twice", value.text()));
      if (value.is_word() && known.size() > kMostWords) {
        node.fail(format("{} has more than {} words: number them instead", name, kMostWords));
      }
      if (!values.empty() && value.is_word() != values.front().is_word()) {
        item.fail(format("{} has the {} {} and the {} {}: give it integers alone or words alone",
                         name, kind_of(values.front()), values.front().text(), kind_of(value),
                         value.text()));
      }
      if (value.is_word()) names_.add_word(value.word(), level);
      values.push_back(std::move(value));
    }
    return values;
  }

  std::vector<std::string> parameter_names() const {
    std::vector<std::string> names;
    for (const Parameter& parameter : target_.parameters) names.push_back(parameter.name);
    return names;
  }

  Node root_;
  fs::path folder_;
  Names names_;
  Target target_;
};

}  // namespace

Target load_manifest(const fs::path& file) {
  const Json json = read_json(file);
  return Reader(json, file).read();
}

Target read_manifest(std::string_view text, const fs::path& file) {
  const Json json = parse_json(text, file.string());
  return Reader(json, file).read();
}

}  // namespace autotune
