// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/translation.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "tuner/hash/hash.hpp"
#include "tuner/host/cluster_dims.hpp"
#include "tuner/host/shim_text.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Removes `word` and the blanks around it from the front of `text`.
bool take(std::string_view& text, std::string_view word) {
  const std::string_view rest = trimmed(text);
  if (!rest.starts_with(word)) return false;
  if (is_word(word.back()) && rest.size() > word.size() && is_word(rest[word.size()])) return false;
  text = trimmed(rest.substr(word.size()));
  return true;
}

std::string translated_line(std::string_view line) {
  std::string_view rest = line;
  if (!take(rest, "#") || !take(rest, "pragma") || !take(rest, "unroll")) return std::string(line);
  if (const auto comment = rest.find("//"); comment != std::string_view::npos) {
    rest = trimmed(rest.substr(0, comment));
  }
  return rest.empty() ? "AUTOTUNE_UNROLL_ALL" : format("AUTOTUNE_UNROLL({})", rest);
}

/// Of `extern __shared__ __align__(16) float tile[];`, without its first word and semicolon.
std::optional<std::string> dynamic_array(std::string_view declaration) {
  bool shared = false;
  std::string_view rest = declaration;
  for (;;) {
    if (take(rest, "__shared__")) {
      shared = true;
    } else if (take(rest, "__align__") || take(rest, "alignas") || take(rest, "__attribute__")) {
      rest = after_parentheses(rest);
    } else {
      break;
    }
  }
  rest = trimmed(rest);
  if (!shared || !rest.ends_with(']')) return std::nullopt;
  const auto bracket = rest.rfind('[');
  if (bracket == std::string_view::npos) return std::nullopt;
  if (!trimmed(rest.substr(bracket + 1, rest.size() - bracket - 2)).empty()) return std::nullopt;
  rest = trimmed(rest.substr(0, bracket));
  std::size_t name = rest.size();
  while (name > 0 && is_word(rest[name - 1])) --name;
  const std::string_view type = trimmed(rest.substr(0, name));
  if (type.empty() || name == rest.size()) return std::nullopt;
  return format("{0}* const {1} = static_cast<{0}*>(autotune_host::dynamic_shared());", type,
                rest.substr(name));
}

std::string with_dynamic_arrays(std::string_view text) {
  constexpr std::string_view kExtern = "extern";
  std::string result;
  while (!text.empty()) {
    const auto at = text.find(kExtern);
    const auto end = at == std::string_view::npos ? at : text.find(';', at);
    if (end == std::string_view::npos) break;
    const auto from = at + kExtern.size();
    const std::string_view declaration = text.substr(from, end - from);
    const auto array = is_blank(text[from]) ? dynamic_array(declaration) : std::nullopt;
    const auto next = array ? end + 1 : from;
    result += text.substr(0, array ? at : from);
    if (array) {
      result += *array;
      result.append(static_cast<std::size_t>(std::ranges::count(declaration, '\n')), '\n');
    }
    text.remove_prefix(next);
  }
  return result += text;
}

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

std::string translated(std::string_view text) {
  const std::string source = with_dynamic_arrays(text);
  std::string result;
  std::string_view rest = source;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    result += translated_line(rest.substr(0, end)) + '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

std::string host_source(const SourceUnit& unit) {
  std::string source = format("#line 1 \"cuda_on_host.hpp\"\n{}\n#line 1 \"prelude\"\n{}\n",
                              shim_text(), unit.prelude);
  const auto clusters = cluster_dims(unit.text);
  if (!clusters.empty()) source += "#undef __cluster_dims__\n#define __cluster_dims__(...)\n";
  source += format("#line 1 \"{}\"\n{}\n#line 1 \"entries\"\n", unit.name, translated(unit.text));
  for (const std::string& entry : unit.entries) {
    const auto cluster = clusters.find(function_of(entry));
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

}  // namespace autotune
