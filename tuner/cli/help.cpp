// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

constexpr std::size_t kLineWidth = 96;

constexpr std::string_view kStreams =
    "Results go to stdout, progress and warnings to stderr. Exit status: 0 done; 1 failed; 2 wrong "
    "usage; 3 some problem has no correct configuration; 130 interrupted.";

constexpr std::array<EnvironmentVariable, 6> kEnvironment{
    {{"AUTOTUNE_DB",
      "The database without --db; default: autotune/tuned.db in the user's data folder"},
     {"AUTOTUNE_CACHE",
      "The folder of compiled kernels; default: autotune in the user's cache folder"},
     {"AUTOTUNE_KERNEL_PATH", "Folders of targets, searched before the shipped ones: a:b"},
     {"AUTOTUNE_PLUGIN_PATH", "Folders of plugins, searched before the shipped ones: /a:/b"},
     {"AUTOTUNE_HOST_CXX", "The compiler of the host device; default: g++, clang++ or c++"},
     {"AUTOTUNE_WORKER", "The worker program; default: the autotune-worker of this installation"}}};

std::string left_side(const Option& option) {
  return option.value.empty() ? format("--{}", option.name)
                              : format("--{} {}", option.name, option.value);
}

/// `text` broken at spaces, continued below column `indent`.
std::string wrapped(const std::string& text, std::size_t indent) {
  std::istringstream words(text);
  std::string line, out, word;
  while (words >> word) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > kLineWidth) {
      out += line + '\n' + std::string(indent, ' ');
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return out + line;
}

std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& [left, right] : rows) width = std::max(width, left.size());
  std::string text;
  for (const auto& [left, right] : rows) {
    text += format("  {:<{}}  {}\n", left, width, wrapped(right, width + 4));
  }
  return text;
}

/// A list or an indented block.
bool is_verbatim(const std::string& markdown) {
  return markdown.starts_with(' ') || markdown.starts_with('*');
}

/// Wraps paragraphs of Markdown; lists and indented blocks stay as they are.
std::string paragraphs(const std::string& markdown) {
  std::string text;
  for (std::size_t start = 0; start < markdown.size();) {
    const std::size_t end = std::min(markdown.find("\n\n", start), markdown.size());
    const std::string one = markdown.substr(start, end - start);
    text += (text.empty() ? "" : "\n") + (is_verbatim(one) ? one : wrapped(one, 0)) + '\n';
    start = end + 2;
  }
  return text;
}

/// Replaces links such as `[manifest.md](manifest.md)` by `docs/manifest.md`, for a terminal.
std::string without_links(std::string_view markdown) {
  static const std::regex kLink(R"(\[([a-z_]+\.md)\]\([^)]*\))");
  return std::regex_replace(std::string(markdown), kLink, "docs/$1");
}

std::vector<std::pair<std::string, std::string>> environment_rows() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto& [name, meaning] : kEnvironment) rows.emplace_back(name, meaning);
  return rows;
}

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kEnvironment; }

std::string_view streams_and_status() { return kStreams; }

std::string usage_line(const Verb& verb) {
  return format("autotune {}{}{}", verb.name, verb.synopsis.empty() ? "" : " ", verb.synopsis);
}

std::string meaning_of(const Option& option) {
  std::string text(option.help);
  if (option.repeatable) text += " (may be repeated)";
  if (!option.default_value.empty()) text += format(" (default: {})", option.default_value);
  return text;
}

std::string overview() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Verb* verb : verbs()) rows.emplace_back(verb->name, verb->summary);
  return "autotune finds the fastest correct configuration of a CUDA kernel for each GPU and "
         "size.\n"
         "\n"
         "  autotune --target gemm --sizes 128..1024     tune, verify, store\n"
         "  autotune query --target gemm --size 512      the best configuration, and how certain\n"
         "\n"
         "verbs (the default is tune):\n" +
         two_columns(rows) +
         "\n`autotune VERB --help` shows the options of a verb.\n\nenvironment:\n" +
         two_columns(environment_rows()) + "\n" + wrapped(std::string(kStreams), 0) + '\n';
}

std::string help_of(const Verb& verb) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Option& option : verb.options)
    rows.emplace_back(left_side(option), meaning_of(option));
  std::string text = format("usage: {}\n{}\n", usage_line(verb), verb.summary);
  if (!rows.empty()) text += "\n" + two_columns(rows);
  if (!verb.details.empty()) text += "\n" + paragraphs(without_links(verb.details));
  return text;
}

std::string markdown_reference() {
  std::string text =
      "# Command line\n\n"
      "<!-- Written by `autotune help --markdown`; a test compares the two. -->\n\n" +
      wrapped(std::string(kStreams), 0) + "\n\n| verb | what it does |\n|---|---|\n";
  for (const Verb* verb : verbs()) {
    text += format("| [`{0}`](#{0}) | {1} |\n", verb->name, verb->summary);
  }
  for (const Verb* verb : verbs()) {
    text += format("\n## {}\n\n    {}\n\n{}\n", verb->name, usage_line(*verb), verb->summary);
    if (!verb->options.empty()) text += "\n| option | meaning |\n|---|---|\n";
    for (const Option& option : verb->options) {
      std::string cell = meaning_of(option);
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
        cell.insert(at, "\\");
      }
      text += format("| `{}` | {} |\n", left_side(option), cell);
    }
    if (!verb->details.empty()) text += "\n" + paragraphs(std::string(verb->details));
  }
  text += "\n## Environment\n\n| variable | meaning |\n|---|---|\n";
  for (const auto& [name, meaning] : kEnvironment) text += format("| `{}` | {} |\n", name, meaning);
  return text;
}

}  // namespace autotune::cli
