// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/own_names.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <span>
#include <string_view>

namespace autotune::architecture {
namespace {

using Words = std::vector<std::string>;  // names, `::`, `->`, `&&`, and other signs one by one

Words words_of(std::string_view line) {
  Words words;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t size = 1;
    if (in_word(line[at])) {
      while (at + size < line.size() && in_word(line[at + size])) ++size;
    } else if (const auto two = line.substr(at, 2); two == "::" || two == "->" || two == "&&") {
      size = 2;
    }
    if (line[at] != ' ') words.emplace_back(line.substr(at, size));
    at += size;
  }
  return words;
}

bool is_name(const std::string& word) { return in_word(word.front()); }

bool is_constant(const std::string& word) {
  return word.size() > 1 && word[0] == 'k' && std::isupper(static_cast<unsigned char>(word[1]));
}

bool one_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::ranges::find(words, word) != words.end();
}

struct Declared {
  std::string name;
  bool function = false;
};

/// What a line at the outermost level declares; no name without.
Declared declared_by(std::span<const std::string> words) {
  if (words.size() > 2 && words[0] == "template") {
    const auto end = std::ranges::find(words, ">");
    words = words.subspan(static_cast<std::size_t>(end - words.begin()) + (end != words.end()));
  }
  if (words.size() < 3) return {};
  if (words[0] == "}" && words.size() == 3 && is_name(words[1]))
    return {words[1], true};  // an object that is called
  if (!is_name(words[0])) return {};
  if (one_of(words[0], {"struct", "class", "enum"})) {
    const bool forward = words.back() == ";" && std::ranges::find(words, "{") == words.end();
    return {forward ? "" : words[one_of(words[1], {"class"}) ? 2 : 1]};
  }
  if (words[0] == "using") return {words[2] == "=" ? words[1] : ""};
  if (one_of(words[0], {"namespace", "return", "typedef", "friend"})) return {};
  for (std::size_t i = 1; i < words.size() && words[i] != "="; ++i) {
    if (is_constant(words[i])) return {words[i]};
    if (words[i] == "(") return {i > 1 && is_name(words[i - 1]) ? words[i - 1] : "", true};
  }
  return {};
}

/// Names that a file may declare at any level: `T name` and what can follow it.
void add_introduced(const Words& words, Names& names) {
  const bool suite =
      !words.empty() && (words[0].starts_with("TEST") || words[0].starts_with("INST"));
  if (suite && words.size() > 2) names.insert(words[2]);
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::string& before = words[i - 1];
    const bool after_type =
        is_name(before)
            ? !one_of(before, {"return", "else", "throw", "case", "new", "co_return", "delete"})
            : one_of(before, {">", "&", "*"}) ||
                  (one_of(before, {")", ","}) && one_of(words[i + 1], {"=", ";"}));
    if (after_type && is_name(words[i]) &&
        one_of(words[i + 1], {"(", "{", ";", "=", ",", ")", "[", ":", ">"})) {
      names.insert(words[i]);
    }
  }
}

struct Text {
  std::vector<Words> lines;
  Names introduced;
};

/// What headers declare at the outermost level, once in the tree.
struct Declarations {
  std::map<std::string, std::string, std::less<>> header_of;
  Names functions;
  Names spaces{"autotune"};
};

Declarations declarations_in(const std::map<std::string, Text>& texts, const Sources& sources) {
  Declarations all;
  Names twice;
  for (const auto& [file, text] : texts) {
    if (file.ends_with(".cpp")) continue;
    for (std::size_t i = 0; i < text.lines.size(); ++i) {
      const Words& words = text.lines[i];
      if (words.empty() || sources.at(file).lines[i].starts_with(' ')) continue;
      if (words.size() > 1 && words[0] == "namespace" && words[1] == "autotune") {
        all.spaces.insert(words.begin() + 1, words.end());
      }
      const Declared declared = declared_by(words);
      if (declared.name.empty()) continue;
      const auto [other, first] = all.header_of.emplace(declared.name, file);
      if (!first && other->second != file) twice.insert(declared.name);
      if (declared.function) all.functions.insert(declared.name);
    }
  }
  for (const std::string& name : twice) all.header_of.erase(name);
  all.spaces.erase("testing");
  return all;
}

/// The header of the name at `i`, if it is used there as one of ours; nullptr otherwise.
const std::string* header_used(const Words& words, std::size_t i, const Declarations& all) {
  const auto header = all.header_of.find(words[i]);
  if (header == all.header_of.end()) return nullptr;
  const bool called = i + 1 < words.size() && words[i + 1] == "(";
  if (all.functions.contains(words[i]) && !called) return nullptr;
  if (i > 0 && one_of(words[i - 1], {".", "->"})) return nullptr;
  if (i > 0 && words[i - 1] == "::" && (i == 1 || !all.spaces.contains(words[i - 2]))) {
    return nullptr;
  }
  return &header->second;
}

}  // namespace

std::vector<std::string> missing_own_includes(const Sources& sources) {
  std::map<std::string, Text> texts;
  for (const auto& [file, source] : sources) {
    // These stand in for headers of others and repeat their names.
    if (file.find("/shim/") != file.npos || file.find("/stub/") != file.npos) continue;
    Text& text = texts[file];
    for (const std::string& line : source.lines) {
      text.lines.push_back(line.starts_with('#') ? Words() : words_of(line));
      add_introduced(text.lines.back(), text.introduced);
    }
  }
  const Declarations all = declarations_in(texts, sources);
  std::vector<std::string> found;
  for (const auto& [file, text] : texts) {
    Names reached = headers_reached(file, sources);
    reached.insert(file);
    Names known;
    for (const std::string& each : reached) {
      if (const auto own = texts.find(each); own != texts.end()) {
        known.insert(own->second.introduced.begin(), own->second.introduced.end());
      }
    }
    for (const Words& words : text.lines) {
      for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string* const header = header_used(words, i, all);
        if (!header || reached.contains(*header) || !known.insert(words[i]).second) continue;
        found.push_back(file + " uses " + words[i] + " of \"" + *header +
                        "\" and does not include it");
      }
    }
  }
  return found;
}

}  // namespace autotune::architecture
