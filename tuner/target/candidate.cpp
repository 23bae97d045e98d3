// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/candidate.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "tuner/cache/included_text.hpp"
#include "tuner/core/error.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/file_text.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20U;

/// The definitions of a target that do not depend on its parameters, without their macros: what
/// arguments, sizes and rules may use.
std::vector<DefineSpec> definitions_of_arguments(const Target& target) {
  std::set<std::string> left_out;
  for (const Parameter& each : target.parameters) left_out.insert(each.name);
  std::vector<DefineSpec> kept;
  for (DefineSpec each : target.defines) {
    const bool is_of_parameters = std::ranges::any_of(
        each.value.names(), [&](const std::string& name) { return left_out.contains(name); });
    if (is_of_parameters) {
      left_out.insert(each.name);
      continue;
    }
    each.is_macro = false;
    kept.push_back(std::move(each));
  }
  return kept;
}

std::vector<std::string> launched_by(const Target& target, const GivenArguments& given) {
  std::vector<std::string> names;
  if (target.kernels.size() != 1) return names;
  for (const PassedArgument& each : target.kernels.front().arguments) {
    const bool is_name = given.all.contains(each.value.text());
    const bool is_of_sizes = std::ranges::all_of(each.value.names(), [&](const std::string& name) {
      return given.all.contains(name) && !given.buffers.contains(name);
    });
    if (!is_name && !is_of_sizes) return {};
    names.push_back(each.value.text());
  }
  return names;
}

/// The names that a kernel may take which computes what `target` computes.
GivenArguments arguments_given_by(const Target& target) {
  GivenArguments given;
  for (std::string& size : size_names(target)) given.sizes.insert(std::move(size));
  given.all = given.sizes;
  for (const ArgumentSpec& each : target.arguments) {
    given.all.insert(each.name);
    if (each.length || each.file) given.buffers.insert(each.name);
  }
  given.launched = launched_by(target, given);
  return given;
}

}  // namespace

Target candidate_for(std::shared_ptr<const Target> against, Target candidate) {
  for (const Target* const each : {against.get(), static_cast<const Target*>(&candidate)}) {
    if (each->kernels.empty() || each->kernels.front().command.empty()) continue;
    throw Error(
        format("{}: it is a program, and only kernels are judged: autotune tune times programs",
               place_of(*each)));
  }
  if (!against->check_kernels.empty()) {
    throw Error(
        format("{}: its check kernels belong to its own kernels: name a target without them",
               place_of(*against)));
  }
  for (const Setting& each : candidate.settings) {
    if (std::ranges::find(against->settings, each.name, &Setting::name) != against->settings.end())
      continue;
    throw Error(format(
        "{}: its kernel is a template over a type, and {} has no setting {}: give it the type, "
        "in a kernel that is no template",
        place_of(candidate), place_of(*against), each.name));
  }
  std::vector<DefineSpec> defines = definitions_of_arguments(*against);
  std::erase_if(defines, [&](const DefineSpec& each) {
    return std::ranges::find(candidate.defines, each.name, &DefineSpec::name) !=
           candidate.defines.end();
  });
  defines.insert(defines.end(), candidate.defines.begin(), candidate.defines.end());
  candidate.defines = std::move(defines);
  candidate.sizes = against->sizes;
  candidate.size_rules = against->size_rules;
  candidate.free_sizes = against->free_sizes;
  candidate.rules = against->rules;
  candidate.settings = against->settings;
  candidate.arguments = against->arguments;
  candidate.reference = {};
  candidate.reference.kind = ReferenceSpec::Kind::default_configuration;
  candidate.prepare_kernels.clear();
  candidate.prepare = {};
  candidate.flops = against->flops;
  candidate.bytes = against->bytes;
  candidate.model.clear();
  candidate.fingerprint = hash128(candidate.fingerprint + against->fingerprint);
  candidate.against = std::move(against);
  return candidate;
}

KernelSource kernel_source_in(const fs::path& file, const std::vector<fs::path>& more_folders) {
  FileText source = read_text_file(file, kMostBytes);
  if (!source.refusal.empty()) {
    throw UsageError(format("{}: {}; name a .cu file", file.string(), source.refusal));
  }
  std::vector<fs::path> folders = {file.parent_path().empty() ? "." : file.parent_path()};
  folders.insert(folders.end(), more_folders.begin(), more_folders.end());
  std::string headers;
  for (const IncludedFile& each : included(source.text, folders).files) headers += each.text + "\n";
  return {std::move(source.text), std::move(headers)};
}

Candidacy load_candidate(std::shared_ptr<const Target> against, const fs::path& file,
                         const std::string& entry) {
  if (is_manifest_path(file.filename().string())) {
    return {candidate_for(std::move(against), load_manifest(file))};
  }
  const KernelSource source = kernel_source_in(file);
  const GivenArguments given = arguments_given_by(*against);
  const FirstManifest first =
      first_manifest(source.text, source.headers, file.filename().string(), entry,
                     {.empty_headers = against->empty_headers}, &given);
  Target read = read_manifest(first.text, file.parent_path() / (first.name + ".target.toml"));
  return {candidate_for(std::move(against), std::move(read)),
          std::ranges::find(first.questions, kLaunchQuestion) != first.questions.end()};
}

Target with_source(const fs::path& manifest, const fs::path& source) {
  const auto quoted = [](const fs::path& path) {
    return Json(fs::absolute(path).lexically_normal().string()).dump();
  };
  const Target known = load_manifest(manifest);
  std::vector<std::string> folders;
  for (const fs::path& each : known.include_folders) folders.push_back(quoted(each));
  const std::string text =
      format("manifest = 2\nname = \"{}\"\nextends = {}\nsource = {}\ninclude = [{}]\n", known.name,
             quoted(manifest), quoted(source), joined(folders, ", "));
  Target target = read_manifest(text, source.parent_path() / (known.name + ".target.toml"));
  if (target.reference.kind == ReferenceSpec::Kind::kernels) {
    target.reference = {};
    target.reference.kind = ReferenceSpec::Kind::default_configuration;
  }
  return target;
}

}  // namespace autotune
