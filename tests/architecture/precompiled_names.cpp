// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/precompiled_names.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "tests/architecture/own_names.hpp"
#include "tests/architecture/source_text.hpp"

namespace autotune::architecture {
namespace {

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

bool starts_test(std::string_view code) {
  return code.starts_with("TEST(") || code.starts_with("TEST_F(") || code.starts_with("TEST_P(");
}

/// Precompiled headers with a name that a line uses.
void add_needs(const std::string& code, Names& needs) {
  for (const std::string& name : names_in(code, "std::")) {
    if (const auto header = header_of(name)) needs.insert(*header);
  }
  if (!names_in(code, "fmt::").empty()) needs.insert("fmt/format.h");
  if (!names_in(code, "nlohmann::").empty()) needs.insert("nlohmann/json.hpp");
  if (starts_test(code)) needs.insert("gtest/gtest.h");
  if (code.find("EXPECT_THAT(") != code.npos) needs.insert("gmock/gmock.h");
}

}  // namespace

std::vector<std::string> missing_includes(const std::filesystem::path& root) {
  const Sources sources = read_sources(root);
  std::vector<std::string> found = missing_own_includes(sources);
  for (const auto& [file, source] : sources) {
    Names reached = headers_reached(file, sources), needs;
    if (reached.contains("gmock/gmock.h")) reached.insert("gtest/gtest.h");
    for (const std::string& line : source.lines) add_needs(line, needs);
    for (const std::string& header : needs) {
      if (reached.contains(header)) continue;
      found.push_back(file + " uses a name of <" + header + "> and does not include it");
    }
  }
  return found;
}

}  // namespace autotune::architecture
