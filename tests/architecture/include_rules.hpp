// SPDX-License-Identifier: Apache-2.0
// Reads the table of docs/architecture.md and the #include lines of a tree, and compares them.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace autotune::architecture {

/// One row of the table: folders whose headers may be included, and third parties (words of the
/// last column, such as `SQLite3`).
struct Rule {
  std::set<std::string> folders;
  std::string third_parties;
  bool everything = false;
};

/// Folder (`tuner/core`) -> rule. Throws std::runtime_error if the table is missing.
std::map<std::string, Rule> read_table(const std::filesystem::path& document);

/// One sentence for each `#include` under `root` that the table does not allow.
std::vector<std::string> violations(const std::filesystem::path& root,
                                    const std::map<std::string, Rule>& table);

/// One sentence for each type that two headers of tuner or db define in one namespace. A program
/// that links both would call the destructor of one on the other.
std::vector<std::string> types_of_one_name(const std::filesystem::path& root);

}  // namespace autotune::architecture
