// SPDX-License-Identifier: Apache-2.0
// Reads the table of docs/architecture.md, and compares it with a tree: its #include lines, and its
// lines of code.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace autotune::architecture {

/// One row of the table: folders whose headers may be included, third parties (words of their
/// column, such as `SQLite3`), and the budget of lines (0: none).
struct Rule {
  std::set<std::string> folders;
  std::string third_parties;
  bool everything = false;
  int lines = 0;
};

/// Folder (`tuner/core`) -> rule. Throws std::runtime_error if the table is missing.
std::map<std::string, Rule> read_table(const std::filesystem::path& document);

/// One sentence for each `#include` under `root` that the table does not allow.
std::vector<std::string> violations(const std::filesystem::path& root,
                                    const std::map<std::string, Rule>& table);

/// One sentence for each folder under `root` whose C++ files have more lines than its budget.
std::vector<std::string> overspent(const std::filesystem::path& root,
                                   const std::map<std::string, Rule>& table);

/// One sentence for each type that two headers of tuner or db define in one namespace. A program
/// that links both would call the destructor of one on the other.
std::vector<std::string> types_of_one_name(const std::filesystem::path& root);

}  // namespace autotune::architecture
