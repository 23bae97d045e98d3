// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/library_folders.hpp"

#include <dlfcn.h>

#include <system_error>

namespace autotune {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> found_above_library() {
  Dl_info self{};
  const void* const here = reinterpret_cast<const void*>(&folders_above_library);
  if (dladdr(here, &self) == 0 || self.dli_fname == nullptr) return {};
  std::error_code unknown;
  std::vector<fs::path> folders;
  fs::path folder = fs::canonical(self.dli_fname, unknown).parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path()) {
    folders.push_back(folder);
  }
  return folders;
}

/// Found when the library is loaded: its path may be relative, and programs change their folder.
const std::vector<fs::path> kFolders = found_above_library();

}  // namespace

const std::vector<fs::path>& folders_above_library() { return kFolders; }

}  // namespace autotune
