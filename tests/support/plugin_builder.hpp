// SPDX-License-Identifier: Apache-2.0
// Builds plugins out of tree, as their authors do: a compiler, one source, the installed header.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/scratch_folder.hpp"

namespace autotune::testing {

/// A folder that is removed at the end, with an installed header in include/autotune.
class PluginWorkshop {
 public:
  PluginWorkshop();

  const std::filesystem::path& folder() const { return folder_.path(); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    return folder_.write(name, text);
  }

  /// Builds NAME.so beside its source. `compiler` is cc, gcc, c++, g++, clang or clang++, and sets
  /// the language of the source. Throws std::runtime_error with the compiler's output.
  std::filesystem::path build(const std::string& name, const std::string& source,
                              const std::string& compiler = "cc",
                              const std::string& flags = "") const;

 private:
  const ScratchFolder folder_;
};

bool has_program(const std::string& name);

/// A plugin whose facets are variables of its source: {"SEARCH", "search"} is `search` for
/// AUTOTUNE_FACET_SEARCH.
std::string plugin_with(const std::vector<std::pair<std::string, std::string>>& facets,
                        const std::string& name, const std::string& source);

/// A plugin in C without facets; `before` is inserted above its table.
std::string plain_plugin(const std::string& name, const std::string& abi = "AUTOTUNE_PLUGIN_ABI",
                         const std::string& before = "");

}  // namespace autotune::testing
