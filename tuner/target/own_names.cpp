// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/own_names.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "tuner/cache/directives.hpp"
#include "tuner/target/redefinitions.hpp"
#include "tuner/target/source_pieces.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// The name that a declaration such as `static constexpr int BLOCK = 16;` gives a value.
std::string constant_in(std::string_view declaration) {
  const std::string_view before = trimmed(declaration.substr(0, declaration.find('=')));
  const Words words = words_of(before);
  if (before.size() == declaration.size()) return "";
  if (!words.contains("const") && !words.contains("constexpr")) return "";
  return identifier_at_end(before);
}

/// Adds the names in `int BLOCK, class T = float>`.
void add_parameters(std::string_view list, Words& names) {
  int open = 1;
  bool is_value = false;
  std::string last;
  while (!list.empty() && open > 0) {
    const std::string_view word = take_identifier(list);
    if (!word.empty()) {
      if (open == 1 && !is_value) last = word;
      continue;
    }
    const char c = list.front();
    list.remove_prefix(1);
    if (c == '<' || c == '(') ++open;
    if (c == '>' || c == ')') --open;
    if (c == '=' && open == 1) is_value = true;
    if (open != 0 && !(c == ',' && open == 1)) continue;
    if (!last.empty()) names.insert(last);
    last.clear();
    is_value = false;
  }
}

/// The names of all parameters of templates.
void add_template_parameters(std::string_view source, Words& names) {
  const std::string code = masked(source).code;
  constexpr std::string_view kTemplate = "template";
  for (auto at = code.find(kTemplate); at != std::string::npos; at = code.find(kTemplate, at)) {
    at += kTemplate.size();
    const std::string_view rest = trimmed(std::string_view(code).substr(at));
    if (rest.starts_with('<')) add_parameters(rest.substr(1), names);
  }
}

/// Rows from..to-1, counted from 1, become empty.
std::string without_rows(const std::string& text, int from, int to) {
  std::string result;
  int row = 1;
  for (const std::string_view line : split(text, '\n')) {
    if (row > 1) result += '\n';
    if (row < from || row >= to) result += line;
    ++row;
  }
  return result;
}

class OwnValues {
 public:
  OwnValues(const Words& names, std::string file) : names_(names), file_(std::move(file)) {}

  std::string without(std::string text) {
    return without_constants(without_defines(std::move(text)));
  }
  const std::vector<std::string>& replaced() const { return replaced_; }

 private:
  std::string without_defines(std::string text) {
    Words defined;
    for (const SourceDefine& each : unguarded_defines(text)) {
      if (!names_.contains(each.name)) continue;
      defined.insert(each.name);
      add(each.name, each.file.empty() ? file_ : each.file, each.line);
    }
    if (defined.empty()) return text;
    std::vector<LogicalLine> lines = logical_lines(text);
    lines.push_back({lines.back().number + 1, ""});
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      std::string_view rest = lines[i].text;
      if (!defined.contains(take_defined_name(rest))) continue;
      text = without_rows(text, lines[i].number, lines[i + 1].number);
    }
    return text;
  }

  std::string without_constants(std::string text) {
    const MaskedSource parts = masked(text);
    for (const Piece& piece : pieces_of(parts.code)) {
      if (piece.kind == Piece::Kind::function) continue;
      const std::string name =
          constant_in(std::string_view(parts.code).substr(piece.begin, piece.end - piece.begin));
      if (!names_.contains(name)) continue;
      blank_out(text, parts, piece.begin, piece.end);
      add_at(text, name, line_of(parts, piece));
    }
    return text;
  }

  /// Of the sources of a target, each but the first begins with `#line 1 "NAME"`.
  void add_at(const std::string& text, const std::string& name, std::size_t row) {
    constexpr std::string_view kLine = "#line 1 \"";
    std::string file = file_;
    std::size_t first = 1, at = 1;
    for (const std::string_view line : split(text, '\n')) {
      if (at++ == row) break;
      if (!line.starts_with(kLine)) continue;
      file = line.substr(kLine.size(), line.rfind('"') - kLine.size());
      first = at;
    }
    add(name, file, static_cast<int>(row - first) + 1);
  }

  void add(const std::string& name, const std::string& file, int line) {
    replaced_.push_back(format("{} ({}:{})", name, file, line));
  }

  const Words& names_;
  std::string file_;
  std::vector<std::string> replaced_;
};

}  // namespace

void replace_own_values(Target& target) {
  Words names;
  for (const Parameter& parameter : target.parameters) {
    if (!parameter.run_time) names.insert(parameter.name);
  }
  const auto replace = [&](std::string& text, const std::filesystem::path& path) {
    OwnValues values(names, path.filename().string());
    text = values.without(std::move(text));
    std::ranges::copy(values.replaced(), std::back_inserter(target.own_values));
  };
  replace(target.source_text, target.source_path);
  for (FamilySource& source : target.family_sources) replace(source.text, source.path);
}

void pass_template_parameters(Target& target, const Included& included) {
  Words names;
  add_template_parameters(all_sources(target), names);
  for (const IncludedFile& file : included.files) add_template_parameters(file.text, names);
  for (Parameter& parameter : target.parameters) {
    const bool is_passed = std::ranges::any_of(target.kernels, [&](const KernelSpec& kernel) {
      return std::ranges::any_of(kernel.entry_values, [&](const Expression& value) {
        return std::ranges::find(value.names(), parameter.name) != value.names().end();
      });
    });
    if (is_passed && names.contains(parameter.name)) parameter.run_time = true;
  }
}

void qualify_entries(Target& target, const Included& included) {
  std::map<std::string, std::set<std::string>> names;  // C++ names of each kernel
  const auto add = [&](std::string_view source) {
    for (const Piece& piece : pieces_of(masked(source).code)) {
      if (!piece.words.contains("__global__")) continue;
      const bool is_named = !piece.is_c && !piece.words.contains("template");
      names[piece.name].insert(is_named ? "::" + piece.scope + piece.name : piece.name);
    }
  };
  add(all_sources(target));
  for (const IncludedFile& file : included.files) add(file.text);
  for (auto* const kernels : {&target.kernels, &target.prepare_kernels, &target.check_kernels,
                              &target.reference.kernels}) {
    for (KernelSpec& kernel : *kernels) {
      const auto known = names.find(kernel.entry);
      if (known != names.end() && known->second.size() == 1) kernel.entry = *known->second.begin();
    }
  }
}

std::string leading_system_includes(const Target& target) {
  std::string includes;
  for (const LogicalLine& line : logical_lines(target.source_text)) {
    std::string_view rest = trimmed(line.text);
    if (rest.empty() || rest.starts_with("#pragma once")) continue;
    if (!rest.starts_with('#')) break;
    rest = trimmed(rest.substr(1));
    if (take_identifier(rest) != "include") break;
    rest = trimmed(rest);
    if (!rest.starts_with('<') || !rest.ends_with('>')) continue;
    const std::string_view name = rest.substr(1, rest.size() - 2);
    const bool is_own = std::ranges::any_of(target.include_folders, [&](const auto& folder) {
      std::error_code failed;
      return std::filesystem::exists(folder / name, failed);
    });
    if (!is_own) includes += format("#include {}\n", rest);
  }
  return includes;
}

}  // namespace autotune
