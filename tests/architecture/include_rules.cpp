// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/include_rules.hpp"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace autotune::architecture {
namespace {

namespace fs = std::filesystem;

std::string without(std::string text, char unwanted) {
  std::erase(text, unwanted);
  return text;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line.substr(1));
  for (std::string cell; std::getline(stream, cell, '|');) cells.push_back(trimmed(cell));
  return cells;
}

/// `tuner/core/` -> `tuner/core`; a bare name in the allowed column is a folder of tuner.
std::string folder_of(std::string name) {
  name = trimmed(without(name, '`'));
  while (!name.empty() && name.back() == '/') name.pop_back();
  return name;
}

Rule rule_of(const std::vector<std::string>& cells) {
  Rule rule;
  rule.third_parties = cells[3];
  rule.everything = cells[2].starts_with("everything");
  if (cells[4] != "–") rule.lines = std::stoi(without(cells[4], ','));
  std::istringstream names(cells[2]);
  for (std::string name; std::getline(names, name, ',');) {
    const std::string folder = folder_of(name);
    if (folder.empty() || folder == "–") continue;
    const bool path = folder.find('/') != std::string::npos || folder == "db";
    rule.folders.insert(path ? folder : "tuner/" + folder);
  }
  return rule;
}

/// Headers that give a third party away, and the word of the table that stands for it.
const std::vector<std::pair<std::regex, std::string>>& third_parties() {
  static const std::vector<std::pair<std::regex, std::string>> parties{
      {std::regex("fmt/.*"), "fmt"},
      {std::regex("xxh.*"), "xxHash"},
      {std::regex("nlohmann/.*"), "nlohmann-json"},
      {std::regex("toml\\+\\+/.*"), "toml++"},
      {std::regex("Eigen/.*"), "Eigen"},
      {std::regex("boost/program_options.*"), "Boost.Program_options"},
      {std::regex("boost/context.*"), "Boost.Context"},
      {std::regex("boost/math/.*"), "Boost.Math"},
      {std::regex("boost/dll.*"), "Boost.DLL"},
      {std::regex("boost/.*"), "Boost, any other part"},
      {std::regex("(nvrtc|nvml).*"), "NVRTC"},
      {std::regex("(cublas|cublasLt).*"), "cuBLAS"},
      {std::regex("cu(da)?[A-Za-z_]*\\.h"), "CUDA runtime"},
      {std::regex("SQLiteCpp/.*"), "SQLiteCpp"},
      {std::regex("sqlite3.*"), "SQLite3"},
      {std::regex("zlib.*"), "zlib"},
      {std::regex("httplib.*"), "cpp-httplib"},
      {std::regex("mpi\\.h"), "MPI"}};
  return parties;
}

std::string third_party_of(const std::string& header) {
  for (const auto& [pattern, name] : third_parties()) {
    if (std::regex_match(header, pattern)) return name;
  }
  return {};
}

/// The row for a file: the one with the longest folder that the file is in; `plugins/NAME` stands
/// for each plugin.
const std::pair<const std::string, Rule>* row_for(const std::string& file,
                                                  const std::map<std::string, Rule>& table) {
  const std::pair<const std::string, Rule>* best = nullptr;
  for (const auto& row : table) {
    const bool inside = file.starts_with(row.first + "/");
    if (inside && (!best || row.first.size() > best->first.size())) best = &row;
  }
  if (!best && file.starts_with("plugins/")) {
    const auto named = table.find("plugins/NAME");
    if (named != table.end()) best = &*named;
  }
  return best;
}

bool is_cpp(const fs::path& file) {
  const std::string extension = file.extension().string();
  return extension == ".hpp" || extension == ".cpp" || extension == ".h";
}

std::string problem_with(const std::string& file, const std::string& header, bool quoted,
                         const std::map<std::string, Rule>& table) {
  const auto* row = row_for(file, table);
  if (!row) return file + ": its folder has no row in docs/architecture.md";
  const Rule& rule = row->second;
  if (rule.everything && row->first == "tests") return {};
  if (!quoted) {
    const std::string party = third_party_of(header);
    const bool own = rule.third_parties == "its own";
    if (party.empty() || own || rule.third_parties.find(party) != std::string::npos) return {};
    return file + " includes <" + header + ">: " + row->first + " may not use " + party;
  }
  const std::string folder = fs::path(header).parent_path().string();
  const bool is_own = file.substr(0, file.rfind('/')) == folder;  // of a plugin: plugins/NAME
  if (folder.empty() || is_own || (folder + '/').starts_with(row->first + '/')) return {};
  for (const std::string& allowed : rule.folders) {
    if (folder == allowed || folder.starts_with(allowed + "/")) return {};
  }
  if (rule.everything && folder != "tuner/runtime") return {};
  return file + " includes \"" + header + "\": " + row->first + " may not include " + folder;
}

}  // namespace

std::map<std::string, Rule> read_table(const fs::path& document) {
  std::ifstream stream(document);
  std::map<std::string, Rule> table;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("| `")) continue;
    const auto cells = cells_of(line);
    if (cells.size() >= 5) table[folder_of(cells[0])] = rule_of(cells);
  }
  if (table.empty()) throw std::runtime_error(document.string() + " has no table of folders");
  return table;
}

std::vector<std::string> violations(const fs::path& root,
                                    const std::map<std::string, Rule>& table) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*(["<])([^">]+)[">].*)");
  std::vector<std::string> found;
  for (const char* top : {"tuner", "db", "plugins"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!is_cpp(entry.path())) continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream stream(entry.path());
      std::smatch match;
      for (std::string line; std::getline(stream, line);) {
        if (!std::regex_match(line, match, kInclude)) continue;
        std::string problem = problem_with(file, match[2], match[1] == "\"", table);
        if (!problem.empty()) found.push_back(std::move(problem));
      }
    }
  }
  return found;
}

std::vector<std::string> overspent(const fs::path& root, const std::map<std::string, Rule>& table) {
  std::vector<std::string> found;
  for (const auto& [folder, rule] : table) {
    if (rule.lines == 0) continue;
    int lines = 0;
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!is_cpp(entry.path())) continue;
      std::ifstream stream(entry.path());
      for (std::string line; std::getline(stream, line);) ++lines;
    }
    if (lines > rule.lines) {
      found.push_back(folder + " has " + std::to_string(lines) +
                      " lines, more than its budget of " + std::to_string(rule.lines) +
                      ": say it in fewer, or say in the table why not");
    }
  }
  return found;
}

std::vector<std::string> types_of_one_name(const fs::path& root) {
  static const std::regex kNamespace(R"(^namespace ([\w:]+) \{.*)");
  static const std::regex kType(R"(^(?:class|struct) (\w+)(?: final)?(?: :.*)?(?: \{.*)?)");
  std::map<std::string, std::string> first;  // where a type was seen
  std::vector<std::string> found;
  for (const char* top : {"tuner", "db"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.path().extension() != ".hpp") continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      std::ifstream stream(entry.path());
      std::string space;
      std::smatch match;
      for (std::string line; std::getline(stream, line);) {
        if (std::regex_match(line, match, kNamespace)) space = match[1];
        if (!std::regex_match(line, match, kType)) continue;
        const std::string type = space + "::" + match[1].str();
        const auto [known, is_new] = first.try_emplace(type, file);
        if (!is_new && known->second != file) {
          found.push_back(type + " is in " + known->second + " and in " + file);
        }
      }
    }
  }
  return found;
}

}  // namespace autotune::architecture
