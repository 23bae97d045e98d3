// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/precompiled_names.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

namespace autotune::architecture {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string, std::less<>>;

struct Header {
  std::string name;
  std::string names;  // of namespace std, those that this tree uses, between blanks
};

/// The headers that cmake/layers.cmake and tests/CMakeLists.txt precompile.
const std::vector<Header>& precompiled() {
  static const std::vector<Header> headers{
      {"algorithm",
       "all_of any_of adjacent_find binary_search clamp copy copy_if count count_if fill find "
       "find_if includes lower_bound max max_element min min_element mismatch minmax_element "
       "none_of nth_element partial_sort partition remove remove_if replace reverse rotate search "
       "set_difference set_intersection set_union shuffle sort stable_partition stable_sort "
       "transform unique upper_bound"},
      {"array", "array to_array"},
      {"chrono", "chrono"},
      {"cmath",
       "cbrt ceil erf exp expm1 fabs floor fmod frexp hypot isfinite isinf isnan ldexp lgamma "
       "llround log log10 log1p log2 lround nearbyint nextafter pow round signbit sqrt trunc"},
      {"cstdint", "int16_t int32_t int64_t int8_t uint16_t uint32_t uint64_t uint8_t uintptr_t"},
      {"filesystem", "filesystem"},
      {"fstream", "fstream ifstream ofstream"},
      {"functional", "bind_front cref function hash invoke plus reference_wrapper"},
      {"map", "map multimap"},
      {"memory", "make_shared make_unique shared_ptr unique_ptr weak_ptr"},
      {"mutex", "call_once lock_guard mutex once_flag recursive_mutex scoped_lock unique_lock"},
      {"optional", "make_optional nullopt optional"},
      {"set", "multiset set"},
      {"span", "as_bytes span"},
      {"sstream", "istringstream ostringstream stringstream"},
      {"string", "getline stod stoi stol stoll stoul stoull string to_string"},
      {"string_view", "string_view"},
      {"thread", "jthread this_thread thread"},
      {"utility", "as_const cmp_less exchange in_range index_sequence make_pair pair swap"},
      {"vector", "vector"}};
  return headers;
}

std::optional<std::string> header_of(const std::string& name) {
  static const auto kHeaders = [] {
    std::map<std::string, std::string> headers;
    for (const Header& header : precompiled()) {
      std::istringstream names(header.names);
      for (std::string each; names >> each;) headers[each] = header.name;
    }
    return headers;
  }();
  const auto found = kHeaders.find(name);
  return found == kHeaders.end() ? std::nullopt : std::optional(found->second);
}

struct Source {
  Names includes;  // as they are written
  Names needs;     // precompiled headers with a name that it uses
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The names behind each `space::` of a line: `find` of `std::ranges::find`.
std::vector<std::string> names_in(std::string_view line, std::string_view space) {
  std::vector<std::string> names;
  for (std::size_t at = 0; (at = line.find(space, at)) != line.npos;) {
    const bool longer = at > 0 && (in_word(line[at - 1]) || line[at - 1] == ':');
    at += space.size();
    if (line.substr(at).starts_with("ranges::")) at += std::string_view("ranges::").size();
    const auto end = std::find_if_not(line.begin() + static_cast<std::ptrdiff_t>(at), line.end(),
                                      [](char c) { return in_word(c); });
    if (!longer) names.emplace_back(line.begin() + static_cast<std::ptrdiff_t>(at), end);
  }
  return names;
}

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

bool starts_test(std::string_view code) {
  return code.starts_with("TEST(") || code.starts_with("TEST_F(") || code.starts_with("TEST_P(");
}

void read_line(std::string_view line, Source& source) {
  if (line.starts_with("#include ") && line.size() > 10) {
    source.includes.emplace(line.substr(10, line.find_first_of("\">", 10) - 10));
    return;
  }
  const std::string code = code_of(line);
  for (const std::string& name : names_in(code, "std::")) {
    if (const auto header = header_of(name)) source.needs.insert(*header);
  }
  if (!names_in(code, "fmt::").empty()) source.needs.insert("fmt/format.h");
  if (!names_in(code, "nlohmann::").empty()) source.needs.insert("nlohmann/json.hpp");
  if (starts_test(code)) source.needs.insert("gtest/gtest.h");
  if (code.find("EXPECT_THAT(") != code.npos) source.needs.insert("gmock/gmock.h");
}

/// What ends the raw string that a line leaves open: `)cpp"` of `R"cpp(`. Empty without one.
std::string end_of_open_string(const std::string& line) {
  const auto start = line.find("R\"");
  const auto bracket = line.find('(', start);
  if (start == line.npos || bracket == line.npos) return "";
  const std::string end = ')' + line.substr(start + 2, bracket - start - 2) + '"';
  return line.find(end, bracket) == line.npos ? end : "";
}

void read_lines(std::istream& stream, Source& source) {
  std::string end;
  for (std::string line; std::getline(stream, line);) {
    if (end.empty()) {
      read_line(line, source);
      end = end_of_open_string(line);
    } else if (line.find(end) != line.npos) {
      end.clear();
    }
  }
}

using Sources = std::map<std::string, Source>;

Sources read_sources(const fs::path& root) {
  Sources sources;
  for (const char* top : {"tuner", "db", "tests", "plugins", "bench"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".hpp" && extension != ".cpp" && extension != ".h") continue;
      std::ifstream stream(entry.path());
      Source& source = sources[fs::relative(entry.path(), root).generic_string()];
      read_lines(stream, source);
    }
  }
  return sources;
}

/// All headers that a source includes, itself or through headers of the tree.
void add_reached(const Source& source, const Sources& sources, Names& reached) {
  for (const std::string& header : source.includes) {
    if (!reached.insert(header).second) continue;
    const auto own = sources.find(header);
    if (own != sources.end()) add_reached(own->second, sources, reached);
  }
}

}  // namespace

std::vector<std::string> missing_includes(const fs::path& root) {
  const Sources sources = read_sources(root);
  std::vector<std::string> found;
  for (const auto& [file, source] : sources) {
    Names reached;
    add_reached(source, sources, reached);
    if (reached.contains("gmock/gmock.h")) reached.insert("gtest/gtest.h");
    for (const std::string& header : source.needs) {
      if (reached.contains(header)) continue;
      found.push_back(file + " uses a name of <" + header + "> and does not include it");
    }
  }
  return found;
}

}  // namespace autotune::architecture
