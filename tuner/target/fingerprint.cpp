// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/fingerprint.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "tuner/cache/included_text.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

std::set<std::string_view> names_in(std::string_view text) {
  std::set<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_in_identifier(text[end])) ++end;
    if (end > at) names.insert(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

/// Writes expressions with definitions substituted.
class Meanings {
 public:
  explicit Meanings(const Target& target) {
    for (const DefineSpec& each : target.defines) {
      const bool is_free = std::ranges::find(target.free_sizes, each.name, &FreeSize::name) !=
                           target.free_sizes.end();
      known_[each.name] = is_free ? "free " + each.name : hash128(of(each.value));
      if (is_free) defaults_ += format("free {} {}\n", each.name, of(each.value));
    }
    const auto number = [&](const auto& specs, const char* kind) {
      for (const auto& each : specs) known_[each.name] = format("{} {}", kind, each.name);
    };
    number(target.arguments, "argument");
    number(target.workspace, "workspace");
    number(target.tensor_maps, "tensor map");
    number(target.textures, "texture");
  }

  /// Free sizes with their defaults.
  const std::string& free_sizes() const { return defaults_; }

  std::string of(const Expression& expression) const {
    return expression.identity([&](const std::string& name) {
      const auto found = known_.find(name);
      return found == known_.end() ? name : found->second;
    });
  }
  std::string of(const std::optional<Expression>& expression) const {
    return expression ? of(*expression) : "none";
  }
  std::string of(const std::vector<Expression>& expressions) const {
    std::string text;
    for (const Expression& each : expressions) text += of(each) + ",";
    return text;
  }

 private:
  std::map<std::string, std::string> known_;
  std::string defaults_;
};

/// Optional keys have their own lines, so that the text of arguments without them is unchanged.
std::string array_text(const Meanings& meanings, const ArgumentSpec& spec) {
  const std::string type = spec.width == 1 ? spec.type : format("{}x{}", spec.type, spec.width);
  std::string text =
      format("{} {} {} {} {} {} {} {} {}\n", spec.name, type, static_cast<int>(spec.role),
             static_cast<int>(spec.fill), meanings.of(spec.length), meanings.of(spec.tolerance),
             meanings.of(spec.value), spec.real ? format("{}", *spec.real) : "",
             meanings.of(spec.constant));
  if (spec.absolute) text += format("  absolute {}\n", meanings.of(spec.absolute));
  if (spec.repeatable) text += format("  repeatable {}\n", meanings.of(spec.repeatable));
  if (spec.streams) text += format("  streams {}\n", meanings.of(spec.streams));
  if (!spec.fill_values.empty()) text += format("  fill {}\n", meanings.of(spec.fill_values));
  if (spec.seed) text += format("  seed {}\n", *spec.seed);
  if (!spec.dims.empty()) {
    text += format("  dims {} strides {}\n", meanings.of(spec.dims), meanings.of(spec.strides));
  }
  if (spec.when) text += format("  when {}\n", meanings.of(spec.when));
  for (const MemberSpec& each : spec.members) text += format("  member {}\n", each.type);
  if (spec.groups.size() > 1 || !spec.fields.empty()) {
    for (const MemberGroup& each : spec.groups) {
      text += format("  group {} {} {}\n", each.first, each.end, each.is_vector);
    }
  }
  for (const ArgumentSpec& each : spec.fields) text += array_text(meanings, each);
  if (spec.file) text += format("  file {}\n", spec.file->hash);
  return text;
}

std::string options_text(const Meanings& meanings, const std::vector<OptionSpec>& options) {
  std::string text;
  for (const OptionSpec& each : options) {
    text += format("{} {} {}\n", each.text, meanings.of(each.values), meanings.of(each.when));
  }
  return text;
}

std::string kernel_text(const Meanings& meanings, const KernelSpec& kernel) {
  std::string text =
      format("{} {} {} {} {} {} {}\n", kernel.entry, meanings.of(kernel.when),
             meanings.of(kernel.grid), meanings.of(kernel.block), meanings.of(kernel.cluster),
             meanings.of(kernel.dynamic_shared_bytes), meanings.of(kernel.starts_early));
  if (!kernel.entry_values.empty()) text += "  " + meanings.of(kernel.entry_values) + "\n";
  if (kernel.cooperative) text += format("  cooperative {}\n", meanings.of(kernel.cooperative));
  text += options_text(meanings, kernel.command);
  if (kernel.repeat) text += format("  repeat {} {}\n", meanings.of(kernel.repeat), kernel.group);
  for (const PassedArgument& each : kernel.arguments) {
    text += format("  {} {} {}\n", meanings.of(each.value), each.type, meanings.of(each.when));
  }
  return text;
}

std::string map_text(const Meanings& meanings, const TensorMapSpec& map) {
  return format("{} {} {} {} {} {}{}\n", map.name, meanings.of(map.buffer), meanings.of(map.dims),
                meanings.of(map.strides), meanings.of(map.box), meanings.of(map.swizzle_bytes),
                map.tf32 ? " tf32" : "");
}

std::string texture_text(const Meanings& meanings, const TextureSpec& texture) {
  return format("texture {} {} {} {} {} {}\n", texture.name, meanings.of(texture.buffer),
                meanings.of(texture.dims), static_cast<int>(texture.filter),
                static_cast<int>(texture.address), texture.normalized);
}

/// Definitions that are macros and occur in the source.
std::string macros_text(const Meanings& meanings, const Target& target, std::string_view source) {
  const std::set<std::string_view> named = names_in(source);
  std::set<std::string> lines;
  for (const DefineSpec& each : target.defines) {
    if (!each.is_macro || !named.contains(short_name(each.name))) continue;
    lines.insert(format("{} {}\n", short_name(each.name), meanings.of(each.value)));
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  return text;
}

/// Forms of words other than numbers, which were the only form at first.
std::string forms_text(const Target& target) {
  std::string text;
  const auto add = [&](const auto& choices) {
    for (const auto& each : choices) {
      if (each.form == WordForm::number) continue;
      text += format("{} as {}\n", each.name, each.form == WordForm::text ? "text" : "type");
      for (const auto& [word, its_text] : each.texts) text += format("  {} {}\n", word, its_text);
    }
  };
  add(target.settings);
  add(target.parameters);
  return text;
}

}  // namespace

std::string measurement_fingerprint(const Target& target) {
  const Meanings meanings(target);
  const std::string own = all_sources(target);
  const std::string source =
      own + '\0' + included(own, target.include_folders, target.options).text();
  std::string text = source + '\0';
  for (const std::string& option : target.options) text += option + '\n';
  text += options_text(meanings, target.configured_options);
  for (const auto* const build : {&target.build, &target.reference.build}) {
    if (*build) text += format("build {}\n{}", target.time, options_text(meanings, **build));
  }
  for (const std::string& size : target.sizes) text += size + '\n';
  text += meanings.free_sizes();
  text += macros_text(meanings, target, source) + forms_text(target);
  text += format("{} {}\n", target.size_macros, meanings.of(target.bake_sizes));
  for (const ArgumentSpec& each : target.arguments) text += array_text(meanings, each);
  for (const ArgumentSpec& each : target.workspace) text += array_text(meanings, each);
  for (const TensorMapSpec& each : target.tensor_maps) text += map_text(meanings, each);
  for (const TextureSpec& each : target.textures) text += texture_text(meanings, each);
  for (const KernelSpec& each : target.kernels) text += kernel_text(meanings, each);
  text += format("reference {} {} {}\n", static_cast<int>(target.reference.kind),
                 target.reference.float64_outputs, target.reference.file_hash);
  for (const KernelSpec& each : target.reference.kernels) text += kernel_text(meanings, each);
  if (!target.check_kernels.empty()) text += "check\n";
  for (const KernelSpec& each : target.check_kernels) text += kernel_text(meanings, each);
  if (!target.prepare_kernels.empty()) text += "prepare\n";
  for (const KernelSpec& each : target.prepare_kernels) text += kernel_text(meanings, each);
  return hash128(text);
}

std::string space_fingerprint(const Target& target) {
  const Meanings meanings(target);
  std::string text;
  for (const Parameter& each : target.parameters) {
    text += format("{} {}:", each.name, meanings.of(each.when));
    for (const Value& value : each.values) text += " " + value.text();
    text += '\n';
  }
  std::set<std::string> constraints;  // sorted: their order does not matter
  for (const Expression& each : target.constraints) constraints.insert(meanings.of(each));
  for (const std::string& each : constraints) text += each + '\n';
  return hash128(text);
}

}  // namespace autotune
