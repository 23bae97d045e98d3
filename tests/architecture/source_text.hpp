// SPDX-License-Identifier: Apache-2.0
// The sources of a tree as rules about includes see them.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace autotune::architecture {

using Names = std::set<std::string, std::less<>>;

struct Source {
  Names includes;                  // as they are written
  std::vector<std::string> lines;  // without comments and what stands between quotation marks
};

using Sources = std::map<std::string, Source>;  // by path from the root

/// All sources of tuner, db, tests, plugins and bench.
Sources read_sources(const std::filesystem::path& root);

/// All headers that a source includes, itself or through headers of the tree.
Names headers_reached(const std::string& file, const Sources& sources);

/// Whether a character is part of a name.
bool in_word(char c);

}  // namespace autotune::architecture
