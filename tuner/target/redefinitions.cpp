// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/redefinitions.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "tuner/cache/directives.hpp"
#include "tuner/cache/flat_source.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/source_writer.hpp"
#include "tuner/target/declarations.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

/// The conditions around a line, outermost first, each with its earlier branches.
class Conditions {
 public:
  void follow(std::string_view directive, std::string_view rest) {
    if (directive == "define" && open_.empty()) {
      defined_.emplace(take_word(rest));
    } else if (directive == "undef") {
      defined_.erase(std::string(take_word(rest)));
    } else if (directive == "ifndef" && defined_.contains(std::string(rest))) {
      open_.emplace_back("0");  // never compiled
    } else if (directive.starts_with("if")) {
      open_.emplace_back(rest);
    } else if (open_.empty()) {
      return;
    } else if (directive.starts_with("el")) {
      open_.back() += format(" else {}", rest);
    } else if (directive == "endif") {
      open_.pop_back();
    }
  }

  bool guard(std::string_view name) const {
    return std::ranges::any_of(open_, [&](const std::string& condition) {
      return condition == "0" || has_word(condition, name);
    });
  }

 private:
  std::vector<std::string> open_;
  std::set<std::string> defined_;  // outside of all conditions
};

/// File and line according to directives such as `#line 1 "b.cu"`.
class Place {
 public:
  /// Applies the rest of a #line directive.
  void set(std::string_view rest, int line) {
    after_ = line + 1;
    std::from_chars(rest.data(), rest.data() + rest.size(), first_);
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (close > open) file_ = rest.substr(open + 1, close - open - 1);
  }
  int line(int number) const { return number - after_ + first_; }
  const std::string& file() const { return file_; }

 private:
  int after_ = 1, first_ = 1;
  std::string file_;
};

/// A line such as `#define N 1`, in the conditions around it.
struct Directive {
  std::string_view name, rest;  // `define`, `N 1`
  const Conditions& conditions;
  int line;
  std::string file;  // from the last #line; empty before the first
};

/// Calls `visit` with each directive; conditions do not include that of the line itself.
template <class Visit>
void for_each_directive(std::string_view text, const Visit& visit) {
  Conditions conditions;
  Place place;
  for (const LogicalLine& line : logical_lines(text)) {
    std::string_view rest = line.text;
    const std::string_view directive = take_directive(rest);
    if (directive.empty()) continue;
    if (directive == "line") place.set(rest, line.number);
    visit(Directive{directive, rest, conditions, place.line(line.number), place.file()});
    conditions.follow(directive, rest);
  }
}

/// The names in a condition, without those that it asks `defined(NAME)` of.
std::set<std::string> valued_names(std::string_view condition) {
  std::set<std::string> names, asked;
  bool is_asked = false;
  while (!(condition = trimmed(condition)).empty()) {
    const std::string word(take_word(condition));
    if (word.empty()) {
      condition.remove_prefix(1);
      continue;
    }
    if (word != "defined") (is_asked ? asked : names).insert(word);
    is_asked = word == "defined";
  }
  for (const std::string& name : asked) names.erase(name);
  return names;
}

/// The conditions of a target's sources on macros that are not defined.
class UnknownConditions {
 public:
  UnknownConditions(const Target& target, const Included& included,
                    const std::set<std::string>& removed)
      : target_(target), included_(included), macros_(macros_of(target)) {
    add_defines(all_sources(target));
    for (const IncludedFile& file : included_.files) add_defines(file.text);
    for (const std::string& family : removed) {
      defined_.insert(macro_name(target.parameters[*target.family].name + '_' + family));
    }
    for (std::string_view option : target.options) {
      if (option.starts_with("-D")) option.remove_prefix(2);
      defined_.emplace(take_word(option));
    }
  }

  void refuse() const {
    refuse_in(target_.source_text, target_.source_path.string(), "");
    for (std::size_t i = 0; i < target_.family_sources.size(); ++i) {
      const FamilySource& source = target_.family_sources[i];
      refuse_in(source.text, source.path.string(),
                target_.parameters[*target_.family].values[i].word());
    }
    for (const IncludedFile& file : included_.files) refuse_in(file.text, file.path.string(), "");
  }

 private:
  void add_defines(std::string_view text) {
    for_each_directive(text, [&](const Directive& at) {
      std::string_view rest = at.rest;
      if (at.name == "define") defined_.emplace(take_word(rest));
    });
  }

  void refuse_in(std::string_view text, const std::string& file, const std::string& family) const {
    for_each_directive(text, [&](const Directive& at) {
      if (at.name != "if" && at.name != "elif") return;
      for (const std::string& name : valued_names(at.rest)) {
        if (defined_.contains(name) || at.conditions.guard(name)) continue;
        const std::string why = reason_unknown(name, family, at.conditions);
        if (why.empty()) continue;
        throw Error(format("{}: {}:{}: {}", place_of(target_), at.file.empty() ? file : at.file,
                           at.line, why));
      }
    });
  }

  /// Why a name has no value; empty if it has one, or none that the manifest could give.
  std::string reason_unknown(const std::string& name, const std::string& family,
                             const Conditions& conditions) const {
    const std::string& parameter = target_.parameters[*target_.family].name;
    std::vector<std::string> families;
    for (const Macro& macro : macros_) {
      if (macro.name != name) continue;
      if (macro.family.empty() || macro.family == family) return {};
      families.push_back(macro.family);
    }
    if (families.empty()) {
      if (!name.starts_with(parameter + "_")) return {};
      return format(
          "{} would be 0 here: {} has no family of this name: correct or remove the condition",
          name, parameter);
    }
    if (family.empty() || conditions.guard(parameter)) return {};
    return format(
        "{} would be 0 here: it belongs to the {} {}, and this is the source of {}: "
        "give it to {}, too, or write #ifdef {}",
        name, families.size() == 1 ? "family" : "families", joined(families, " and "), family,
        family, name);
  }

  const Target& target_;
  const Included& included_;
  std::vector<Macro> macros_;
  std::set<std::string> defined_;
};

}  // namespace

std::vector<SourceDefine> unguarded_defines(std::string_view text) {
  std::vector<SourceDefine> defines;
  for_each_directive(text, [&](const Directive& at) {
    if (at.name != "define") return;
    std::string_view rest = at.rest;
    const std::string_view name = take_word(rest);
    if (!at.conditions.guard(name)) defines.push_back({std::string(name), at.line, at.file});
  });
  return defines;
}

void refuse_redefinitions(const Target& target, const Included& included) {
  const std::vector<Macro> macros = macros_of(target);
  const auto check = [&](const std::string& file, std::string_view text) {
    for (const SourceDefine& define : unguarded_defines(text)) {
      const auto macro = std::ranges::find(macros, define.name, &Macro::name);
      if (macro == macros.end()) continue;
      throw Error(
          format("{}: {}: {}:{} has a #define {} of its own, which would override the manifest's: "
                 "remove it, or write #ifndef {} before it and #endif after it",
                 place_of(target), macro->owner, define.file.empty() ? file : define.file,
                 define.line, define.name, define.name));
    }
  };
  check(target.source_path.string(), all_sources(target));
  for (const IncludedFile& file : included.files) check(file.path.string(), file.text);
}

void refuse_unknown_conditions(const Target& target, const Included& included,
                               const std::set<std::string>& removed) {
  if (target.family) UnknownConditions(target, included, removed).refuse();
}

void refuse_equal_macros(const Node& place, const Target& target) {
  std::multimap<std::string, Macro> known;
  for (const Macro& macro : macros_of(target)) {
    const auto [first, last] = known.equal_range(macro.name);
    for (auto other = first; other != last; ++other) {
      const Macro& before = other->second;
      const bool apart =
          !macro.family.empty() && !before.family.empty() && macro.family != before.family;
      if (apart) continue;
      place.fail(format("{} and {} would both give the macro {}: rename one", before.owner,
                        macro.owner, macro.name));
    }
    known.emplace(macro.name, macro);
  }
}

namespace {

/// The name that a declaration such as `static constexpr int BLOCK = 16;` gives a value.
std::string constant_in(std::string_view declaration) {
  const std::string_view before = trimmed(declaration.substr(0, declaration.find('=')));
  const Words words = words_of(before);
  if (before.size() == declaration.size()) return "";
  if (!words.contains("const") && !words.contains("constexpr")) return "";
  return std::string(identifier_at_end(before));
}

/// The names of all parameters of templates.
void add_template_parameters(std::string_view source, Words& names) {
  const Tokens code = tokens_of(masked(source).code);
  for (std::size_t at = position(code, "template"); at + 1 < code.size();
       at = position(code, "template", at + 1)) {
    if (code[at + 1] != "<") continue;
    for (const Declaration& each : template_parameters(code, at)) names.insert(each.name);
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

bool has_own_value(const std::string& text, const Words& names) {
  return OwnValues(names, "").without(text) != text;
}

void replace_own_values(Target& target) {
  Words names;
  for (const Parameter& parameter : target.parameters) {
    if (!parameter.run_time) names.insert(parameter.name);
  }
  if (target.bake_sizes && target.size_macros == "*") {
    names.insert(target.sizes.begin(), target.sizes.end());
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
    if (take_directive(rest) != "include") break;
    const std::string name = header_name(rest).name;
    if (name.empty()) continue;
    const auto has_it = [&](const std::filesystem::path& folder) {
      std::error_code failed;
      return std::filesystem::exists(folder / name, failed);
    };
    const bool is_own = has_it(target.source_path.parent_path()) ||
                        std::ranges::any_of(target.include_folders, has_it);
    if (is_own) continue;
    includes += format("#line {} \"{}\"\n#include {}\n", line.number,
                       target.source_path.filename().string(), rest);
  }
  return includes.empty() ? includes : includes + "#line 1 \"prelude\"\n";
}

}  // namespace autotune
