// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_text.hpp"

#include <cctype>
#include <fstream>
#include <string_view>

namespace autotune::architecture {
namespace {

namespace fs = std::filesystem;

/// A line without its comment and without what stands between quotation marks.
std::string code_of(std::string_view line) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && (i == 0 || line[i - 1] != '\\')) quoted = !quoted;
    if (!quoted && line.substr(i).starts_with("//")) break;
    if (!quoted) code += line[i];
  }
  return code;
}

/// What ends the raw string that a line leaves open: `)cpp"` of `R"cpp(`. Empty without one.
std::string end_of_open_string(const std::string& line) {
  const auto start = line.find("R\"");
  const auto bracket = line.find('(', start);
  if (start == line.npos || bracket == line.npos) return "";
  const std::string end = ')' + line.substr(start + 2, bracket - start - 2) + '"';
  return line.find(end, bracket) == line.npos ? end : "";
}

Source read_source(const fs::path& file) {
  Source source;
  std::ifstream stream(file);
  std::string end;
  for (std::string line; std::getline(stream, line);) {
    if (end.empty()) {
      if (line.starts_with("#include ") && line.size() > 10) {
        source.includes.insert(line.substr(10, line.find_first_of("\">", 10) - 10));
      } else {
        source.lines.push_back(code_of(line));
      }
      end = end_of_open_string(line);
    } else if (const auto close = line.find(end); close != line.npos) {
      line.erase(0, close + end.size());
      source.lines.push_back(code_of(line));
      end = end_of_open_string(line);
    }
  }
  return source;
}

void add_reached(const std::string& file, const Sources& sources, Names& reached) {
  const auto source = sources.find(file);
  if (source == sources.end()) return;
  const std::string folder = file.substr(0, file.rfind('/') + 1);
  for (const std::string& header : source->second.includes) {
    const bool beside = sources.contains(folder + header);  // as installed headers have it
    const std::string path = beside ? folder + header : header;
    if (reached.insert(path).second) add_reached(path, sources, reached);
  }
}

}  // namespace

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

Sources read_sources(const fs::path& root) {
  Sources sources;
  for (const char* top : {"tuner", "db", "tests", "plugins", "bench"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".h") continue;
      sources[fs::relative(entry.path(), root).generic_string()] = read_source(entry.path());
    }
  }
  return sources;
}

Names headers_reached(const std::string& file, const Sources& sources) {
  Names reached;
  add_reached(file, sources, reached);
  return reached;
}

}  // namespace autotune::architecture
