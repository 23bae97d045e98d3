// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_files.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <system_error>

#include "tuner/core/error.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace fs = std::filesystem;

std::vector<fs::path> plugin_folders() {
  std::vector<fs::path> folders;
  std::istringstream parts(environment_variable("AUTOTUNE_PLUGIN_PATH"));
  for (std::string part; std::getline(parts, part, ':');) {
    if (part.empty()) continue;
    if (!fs::path(part).is_absolute()) {
      throw UsageError(format(
          "AUTOTUNE_PLUGIN_PATH: {} is not an absolute path: give the folder from / on", part));
    }
    folders.emplace_back(part);
  }
  std::error_code unknown;
  const fs::path program = fs::read_symlink("/proc/self/exe", unknown);
  if (!unknown) folders.push_back(program.parent_path().parent_path() / "lib/autotune/plugins");
  return folders;
}

std::vector<fs::path> plugin_files() { return plugin_files(plugin_folders()); }

std::vector<fs::path> plugin_files(const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code none;
    std::vector<fs::path> here;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().extension() == ".so") here.push_back(fs::weakly_canonical(entry.path()));
    }
    std::ranges::sort(here);
    for (const fs::path& file : here) {
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
    }
  }
  return files;
}

}  // namespace autotune
