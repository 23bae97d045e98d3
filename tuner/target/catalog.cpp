// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/catalog.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

/// NAME/NAME.target.toml in a folder; empty where there is none.
fs::path manifest_in(const fs::path& folder, const std::string& name) {
  std::error_code none;
  fs::path manifest = folder / name / (name + ".target.toml");
  return fs::exists(manifest, none) ? manifest : fs::path();
}

}  // namespace

std::vector<fs::path> kernel_folders(std::span<const fs::path> installed) {
  std::vector<fs::path> folders;
  std::istringstream parts(environment_variable("AUTOTUNE_KERNEL_PATH"));
  for (std::string part; std::getline(parts, part, ':');) {
    if (!part.empty()) folders.emplace_back(part);
  }
  folders.insert(folders.end(), installed.begin(), installed.end());
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) {
    folders.push_back(program.parent_path().parent_path() / "share/autotune/kernel_sources");
  }
  return folders;
}

std::vector<CatalogEntry> list_targets(std::span<const fs::path> installed) {
  std::map<std::string, fs::path> found;
  for (const fs::path& folder : kernel_folders(installed)) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
      const std::string name = entry.path().filename().string();
      const fs::path manifest = manifest_in(folder, name);
      if (!manifest.empty()) found.emplace(name, manifest);
    }
  }
  std::vector<CatalogEntry> entries;
  for (const auto& [name, manifest] : found) entries.push_back({name, manifest});
  return entries;
}

bool is_manifest_path(std::string_view name_or_path) {
  return name_or_path.find('/') != std::string_view::npos || name_or_path.ends_with(".json") ||
         name_or_path.ends_with(".toml");
}

Target find_target_in(std::span<const fs::path> installed, std::string_view name_or_path) {
  if (is_manifest_path(name_or_path)) {
    if (!fs::exists(name_or_path)) {
      throw UsageError(format(
          "{}: there is no such manifest; `autotune new-target NAME` writes one", name_or_path));
    }
    return load_manifest(name_or_path);
  }
  std::vector<std::string> names;
  for (const CatalogEntry& entry : list_targets(installed)) {
    if (entry.name == name_or_path) return load_manifest(entry.manifest);
    names.push_back(entry.name);
  }
  const std::string instead = names.empty() ? "none is installed" : suggestion(name_or_path, names);
  throw UsageError(format("there is no target {} ({}): give the path of a .target.toml for yours",
                          name_or_path, instead));
}

fs::path manifest_called(std::string_view name_or_path) {
  std::error_code none;
  fs::path path = name_or_path;
  if (!is_manifest_path(name_or_path)) {
    const std::vector<CatalogEntry> listed = list_targets();
    const auto found = std::ranges::find(listed, name_or_path, &CatalogEntry::name);
    if (found != listed.end()) return found->manifest;
    path += ".target.toml";
  }
  return fs::exists(path, none) ? path : fs::path();
}

Target find_target(std::string_view name_or_path) { return find_target_in({}, name_or_path); }

}  // namespace autotune
