// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/translation.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <regex>
#include <set>
#include <vector>

#include "tuner/cache/directives.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/hash/hash.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// Removes `word` and the blanks around it from the front of `text`.
bool take(std::string_view& text, std::string_view word) {
  const std::string_view rest = trimmed(text);
  if (!rest.starts_with(word)) return false;
  if (is_in_identifier(word.back()) && rest.size() > word.size() &&
      is_in_identifier(rest[word.size()]))
    return false;
  text = trimmed(rest.substr(word.size()));
  return true;
}

bool is_macro(std::string_view name, std::string_view definitions) {
  const std::string definition = format("#define {}", name);
  for (auto at = definitions.find(definition); at != definitions.npos;
       at = definitions.find(definition, at + 1)) {
    const std::size_t behind = at + definition.size();
    if (behind < definitions.size() && !is_in_identifier(definitions[behind])) return true;
  }
  return false;
}

/// Whether all names in a text are macros of these definitions.
bool has_only_macros(std::string_view text, std::string_view definitions) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_in_identifier(text[end])) ++end;
    const std::string_view word = text.substr(at, end - at);
    at = std::max(end, at + 1);
    const bool is_name = !word.empty() && !(word[0] >= '0' && word[0] <= '9');
    if (is_name && !is_macro(word, definitions)) return false;
  }
  return true;
}

/// `__shared__ alignas(16) float x`: g++ takes alignas at the beginning of a declaration only.
std::string with_alignment_first(std::string_view line) {
  static constexpr std::string_view kShared = "__shared__", kAlignas = "alignas";
  const auto at = line.find(kShared);
  if (at == line.npos) return std::string(line);
  const std::string_view behind = trimmed(line.substr(at + kShared.size()));
  if (!behind.starts_with(kAlignas)) return std::string(line);
  const std::string_view rest = after_parentheses(trimmed(behind.substr(kAlignas.size())));
  return format("{}{} {}{}", line.substr(0, at), behind.substr(0, behind.size() - rest.size()),
                kShared, rest);
}

/// `typedef unsigned long long uint64_t;` of a source without <cstdint>: the shim includes that,
/// and its type may be another one of as many bits.
std::string with_standard_integer(std::string_view line) {
  static const std::regex kOwn(R"((\s*)typedef\s[a-z ]+\b(u?int(8|16|32|64)_t)\s*;(.*))");
  return std::regex_replace(std::string(line), kOwn, "$1typedef ::$2 $2;$4");
}

std::string translated_line(std::string_view line, std::string_view definitions) {
  std::string_view rest = line;
  if (take(rest, "typedef")) return with_standard_integer(line);
  if (!take(rest, "#") || !take(rest, "pragma") || !take(rest, "unroll"))
    return with_alignment_first(line);
  if (const auto comment = rest.find("//"); comment != std::string_view::npos) {
    rest = trimmed(rest.substr(0, comment));
  }
  if (rest.empty()) return "AUTOTUNE_UNROLL_ALL";
  return format("AUTOTUNE_UNROLL{}({})", has_only_macros(rest, definitions) ? "" : "_BY", rest);
}

/// `extern __shared__ __align__(16) float tile[][32];`
struct DynamicArray {
  std::string type, name, extents;  // `float`, `tile`, `[32]`
};

bool is_alignment(std::string_view word) {
  return word == "__align__" || word == "alignas" || word == "__attribute__";
}

/// What stands between `extern` and the semicolon. nullopt if it declares anything else.
std::optional<DynamicArray> dynamic_array(std::string_view declaration) {
  const auto bracket = declaration.find('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  const std::string_view extents = declaration.substr(bracket + 1);
  const auto close = extents.find(']');
  if (close == std::string_view::npos || !trimmed(extents.substr(0, close)).empty())
    return std::nullopt;
  bool shared = false;
  std::string type;
  std::string_view rest = declaration.substr(0, bracket);
  while (!rest.empty()) {
    const std::string_view word = take_identifier(rest);
    if (is_alignment(word)) {
      rest = after_parentheses(trimmed(rest));
    } else if (word == "__shared__") {
      shared = true;
    } else if (!word.empty()) {
      type += word;
    } else if (is_blank(rest.front()) ||
               std::string_view(":<>,*").find(rest.front()) != std::string_view::npos) {
      type += rest.front();
      rest.remove_prefix(1);
    } else {
      return std::nullopt;
    }
  }
  const std::string_view before = trimmed(type), name = identifier_at_end(before);
  DynamicArray array{std::string(trimmed(before.substr(0, before.size() - name.size()))),
                     std::string(name), std::string(trimmed(extents.substr(close + 1)))};
  if (!shared || array.type.empty() || array.name.empty()) return std::nullopt;
  return array;
}

/// Inside a function, where each call sets it.
std::string as_local_pointer(const DynamicArray& array) {
  const auto& [type, name, extents] = array;
  if (extents.empty()) {
    return format("{0}* const {1} = static_cast<{0}*>(autotune_host::dynamic_shared());", type,
                  name);
  }
  return format("{0} (*const {1}){2} = static_cast<{0} (*){2}>(autotune_host::dynamic_shared());",
                type, name, extents);
}

/// Outside of functions: a pointer of each host thread, which the launcher sets for each block. Its
/// symbol tells it from shared variables.
std::string as_global_pointer(const DynamicArray& array, std::size_t number) {
  const auto& [type, name, extents] = array;
  return format(
      "static thread_local {0} (*{1}){2} __asm__(\"autotune_dynamic_{3}\"); "
      "static const autotune_host::DynamicArray autotune_dynamic_{3}([] {{ "
      "{1} = static_cast<{0} (*){2}>(autotune_host::dynamic_shared()); }});",
      type, name, extents, number);
}

/// The braces around a place in a source.
class Braces {
 public:
  /// Of the place behind `text`, which begins the source and ends with `word`. Of the branches of a
  /// condition, the last one counts.
  Braces(std::string_view text, std::string_view word) {
    const std::vector<LogicalLine> lines = logical_lines(text);
    in_comment_ = !lines.back().text.ends_with(word);
    for (const LogicalLine& line : lines) {
      std::string_view rest = line.text;
      take(rest, "#") ? read_directive(rest) : read_code(line.text);
    }
  }

  bool are_in_comment() const { return in_comment_; }
  /// Whether all of them are of namespaces and `extern "C"`.
  bool are_of_namespaces() const {
    return std::ranges::all_of(open_, [](const std::string& head) {
      return head.starts_with("namespace") || head.starts_with("inline namespace") ||
             head == "extern \"\"";
    });
  }
  /// What stands before each of them, without what is in quotes.
  const std::vector<std::string>& heads() const { return open_; }

 private:
  void read_directive(std::string_view rest) {
    const std::string_view word = take_identifier(rest);
    if (word.starts_with("if")) {
      conditions_.push_back(open_);
    } else if (word == "endif") {
      if (!conditions_.empty()) conditions_.pop_back();
    } else if (word.starts_with("el") && !conditions_.empty()) {
      open_ = conditions_.back();
    }
  }

  void read_code(std::string_view line) {
    char quote = 0;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (quote != 0) {
        if (c == '\\') ++i;
        if (c == quote) quote = 0;
        if (c == '"') head_ += c;
        continue;
      }
      const bool separates_digits = c == '\'' && i > 0 && is_in_identifier(line[i - 1]);
      if (c == '"' || (c == '\'' && !separates_digits)) quote = c;
      if (c == '{') {
        open_.emplace_back(trimmed(head_));
      } else if (c == '}' && !open_.empty()) {
        open_.pop_back();
      }
      head_ += c;
      if (c == '{' || c == '}' || c == ';') head_.clear();
    }
    head_ += ' ';
  }

  bool in_comment_ = false;
  std::vector<std::string> open_;
  std::vector<std::vector<std::string>> conditions_;  // open_ before each
  std::string head_;                                  // what follows the last brace or semicolon
};

/// Replaces declarations of dynamic shared arrays by those of pointers. Outside of functions an
/// array may be declared repeatedly.
class DynamicArrays {
 public:
  explicit DynamicArrays(std::string_view text) : text_(text) {}

  std::string translated() {
    constexpr std::string_view kExtern = "extern";
    std::string result;
    std::size_t done = 0;
    for (auto at = text_.find(kExtern); at != std::string_view::npos;) {
      const auto from = at + kExtern.size();
      const auto end = text_.find(';', from);
      if (end == std::string_view::npos) break;
      const std::string_view declaration = text_.substr(from, end - from);
      const auto array = is_blank(text_[from]) ? dynamic_array(declaration) : std::nullopt;
      if (array) {
        result += text_.substr(done, at - done);
        result += pointer(*array, Braces(text_.substr(0, from), kExtern));
        result.append(static_cast<std::size_t>(std::ranges::count(declaration, '\n')), '\n');
        done = end + 1;
      }
      at = text_.find(kExtern, array ? done : from);
    }
    return result += text_.substr(done);
  }

 private:
  std::string pointer(const DynamicArray& array, const Braces& braces) {
    if (braces.are_in_comment() || !braces.are_of_namespaces()) return as_local_pointer(array);
    auto scope = braces.heads();
    scope.push_back(array.name);
    if (!declared_.insert(scope).second) return ";";
    return as_global_pointer(array, declared_.size());
  }

  std::string_view text_;
  std::set<std::vector<std::string>> declared_;  // outside of functions
};

/// Without namespaces and template arguments.
std::string function_of(std::string_view entry) {
  const std::string_view name = trimmed(entry.substr(0, entry.find('<')));
  const auto colon = name.rfind(':');
  return std::string(trimmed(colon == name.npos ? name : name.substr(colon + 1)));
}

/// A C++ name as letters and digits.
std::string symbol_part(std::string_view entry) {
  return is_name_expression(entry) ? hash128(entry) : std::string(entry);
}

}  // namespace

std::string run_symbol(std::string_view entry) {
  return format("autotune_run_{}", symbol_part(entry));
}

std::string parameters_symbol(std::string_view entry) {
  return format("autotune_parameters_{}", symbol_part(entry));
}

std::string cluster_symbol(std::string_view entry) {
  return format("autotune_cluster_{}", symbol_part(entry));
}

std::string translated(std::string_view text, std::string_view prelude) {
  const std::string source = DynamicArrays(text).translated();
  const std::string definitions = format("{}\n{}", prelude, text);
  std::string result;
  std::string_view rest = source;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    result += translated_line(rest.substr(0, end), definitions) + '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

std::string host_source(const SourceUnit& unit) {
  std::string source = format("{}#line 1 \"cuda_on_host.hpp\"\n{}\n#line 1 \"prelude\"\n{}\n",
                              unit.cooperative.empty() ? "" : "#define AUTOTUNE_COOPERATIVE\n",
                              shim_text(), unit.prelude);
  const auto clusters = cluster_dims(unit.text);
  if (!clusters.empty()) source += "#undef __cluster_dims__\n#define __cluster_dims__(...)\n";
  source += format("#line 1 \"{}\"\n{}\n#line 1 \"entries\"\n", unit.name,
                   translated(unit.text, unit.prelude));
  for (std::size_t number = 0; number < unit.entries.size(); ++number) {
    const std::string& entry = unit.entries[number];
    const auto cluster = clusters.find(function_of(entry));
    source +=
        format("template void {}<{}, decltype(&{})>();\n", kParametersTemplate, number, entry);
    source += format(
        "extern \"C\" __attribute__((visibility(\"default\"))) unsigned long long {0}(\n"
        "    void** arguments, autotune_host::Extent grid, autotune_host::Extent block,\n"
        "    autotune_host::Extent cluster, unsigned long long first, unsigned long long last) {{\n"
        "  return autotune_host::Entry<&{1}>::run(arguments, grid, block, cluster, first, last);\n"
        "}}\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) const int* {2}() {{\n"
        "  return autotune_host::Entry<&{1}>::parameter_bytes;\n}}\n"
        "extern \"C\" __attribute__((visibility(\"default\"))) autotune_host::Extent {3}() {{\n"
        "  return autotune_host::cluster_of{4};\n}}\n",
        run_symbol(entry), entry, parameters_symbol(entry), cluster_symbol(entry),
        cluster == clusters.end() ? "()" : cluster->second);
  }
  return source;
}

namespace {

constexpr std::string_view kAttribute = "__cluster_dims__";

/// Without comments. Macros end with a brace, so that no kernel's name is found behind them.
std::string code_of(std::string_view text) {
  std::string code;
  for (const LogicalLine& line : logical_lines(text)) {
    code += line.text + (trimmed(line.text).starts_with('#') ? "{\n" : "\n");
  }
  return code;
}

/// The name of the function that is declared by what follows one of its attributes. Empty if there
/// is none.
std::string_view function_name(std::string_view rest) {
  while (!(rest = trimmed(rest)).empty() && std::string_view("{};").find(rest[0]) == rest.npos) {
    const std::string_view word = take_identifier(rest);
    if (word.empty()) {
      rest.remove_prefix(1);
      continue;
    }
    rest = trimmed(rest);
    if (!rest.starts_with('(')) continue;
    const bool is_attribute = word.starts_with("__") || word == "alignas";
    if (!is_attribute) return word;
    rest = after_parentheses(rest);
  }
  return {};
}

}  // namespace

std::map<std::string, std::string> cluster_dims(std::string_view text) {
  if (text.find(kAttribute) == text.npos) return {};
  const std::string code = code_of(text);
  std::map<std::string, std::string> found;
  std::string_view rest = code;
  for (auto at = rest.find(kAttribute); at != rest.npos; at = rest.find(kAttribute)) {
    rest = trimmed(rest.substr(at + kAttribute.size()));
    const std::string_view behind = after_parentheses(rest);
    const std::string arguments(rest.substr(0, rest.size() - behind.size()));
    const std::string_view kernel = function_name(behind);
    if (kernel.empty()) return {};
    const auto [known, is_new] = found.emplace(kernel, arguments);
    if (!is_new && known->second != arguments) return {};
    rest = behind;
  }
  return found;
}

}  // namespace autotune
