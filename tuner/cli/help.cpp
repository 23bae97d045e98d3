// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/help.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <sstream>
#include <utility>

#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
namespace {

constexpr std::size_t kLineWidth = 96;

constexpr std::string_view kStreams =
    "Results go to stdout, progress and warnings to stderr. Exit status: 0 done; 1 failed; 2 wrong "
    "usage; 3 some problem has no correct configuration; 4 to 6 verdicts of judge; 130 "
    "interrupted.";

constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEnvironment{
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
  return {kEnvironment.begin(), kEnvironment.end()};
}

/// `autotune tune --target T --sizes S`.
std::string usage_line(const Verb& verb) {
  return format("autotune {}{}{}", verb.name, verb.synopsis.empty() ? "" : " ", verb.synopsis);
}

}  // namespace

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

namespace {

/// The code point at `at`; moves `at` behind it.
unsigned code_point(std::string_view text, std::size_t& at) {
  const auto lead = static_cast<unsigned char>(text[at++]);
  if (lead < 0x80) return lead;
  unsigned point = lead & (lead < 0xe0 ? 0x1fu : lead < 0xf0 ? 0x0fu : 0x07u);
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0u) == 0x80u) {
    point = point << 6 | (static_cast<unsigned char>(text[at++]) & 0x3fu);
  }
  return point;
}

/// The roff name of a character that roff would change. Hyphens become minus signs, so that options
/// can be copied.
const char* glyph_of(unsigned point) {
  switch (point) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '`':
      return "\\(ga";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    case 0x2026:  // an ellipsis, which terminals in ASCII do not have
      return "...";
    default:
      return nullptr;
  }
}

/// Escapes text for roff.
std::string literal(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const unsigned point = code_point(text, at);
    if (const char* const name = glyph_of(point)) {
      out += name;
    } else if (point < 0x80) {
      out += static_cast<char>(point);
    } else {
      out += format("\\[u{:04X}]", point);
    }
  }
  return out;
}

/// Protects a line of text from being taken for a request.
std::string line(const std::string& text) {
  return (text.starts_with('.') ? "\\&" : "") + text + '\n';
}

/// `code` in bold, [text](link) as its text.
std::string inline_text(std::string_view markdown) {
  std::string out;
  for (std::size_t at = 0; at < markdown.size();) {
    const std::size_t code_end = markdown[at] == '`' ? markdown.find('`', at + 1) : at;
    const std::size_t link = markdown[at] == '[' ? markdown.find("](", at) : std::string_view::npos;
    if (markdown[at] == '`' && code_end != std::string_view::npos) {
      out += "\\fB" + literal(markdown.substr(at + 1, code_end - at - 1)) + "\\fR";
      at = code_end + 1;
    } else if (link != std::string_view::npos && link < markdown.find(']', at) + 1) {
      out += literal(markdown.substr(at + 1, link - at - 1));
      at = std::min(markdown.find(')', link), markdown.size() - 1) + 1;
    } else {
      const std::size_t end = std::min(markdown.find_first_of("`[", at + 1), markdown.size());
      out += literal(markdown.substr(at, end - at));
      at = end;
    }
  }
  return out;
}

/// The items of a Markdown list; lines that continue an item are indented.
std::string list_text(std::string_view markdown) {
  std::string out;
  for (const std::string_view each : split(markdown, '\n')) {
    if (each.starts_with("* ")) out += ".IP \\(bu 2\n";
    out += line(inline_text(each.starts_with("* ") ? each.substr(2) : trimmed(each)));
  }
  return out;
}

std::string example_text(std::string_view markdown) {
  std::string out = ".PP\n.RS 4\n.EX\n";
  for (const std::string_view each : split(markdown, '\n')) {
    if (!trimmed(each).empty())
      out += line(literal(each.substr(std::min<std::size_t>(4, each.size()))));
  }
  return out + ".EE\n.RE\n";
}

std::string details_text(std::string_view markdown) {
  std::string out;
  while (!markdown.empty()) {
    const std::size_t end = std::min(markdown.find("\n\n"), markdown.size());
    const std::string_view one = markdown.substr(0, end);
    out += one.starts_with('*')      ? list_text(one)
           : one.starts_with("    ") ? example_text(one)
                                     : ".PP\n" + line(inline_text(trimmed(one)));
    markdown.remove_prefix(std::min(end + 2, markdown.size()));
  }
  return out;
}

std::string option_text(const Option& option) {
  const std::string value =
      option.value.empty() ? "" : format(" \\fI{}\\fR", literal(option.value));
  return format(".TP\n\\fB{}\\fR{}\n", literal(format("--{}", option.name)), value) +
         line(inline_text(meaning_of(option)));
}

std::string verb_text(const Verb& verb) {
  std::string text = format(".SS {}\n\\fB{}\\fR\n.PP\n", verb.name, literal(usage_line(verb))) +
                     line(literal(format("{}.", verb.summary)));
  for (const Option& option : verb.options) text += option_text(option);
  return text + details_text(verb.details);
}

}  // namespace

std::string man_page() {
  std::string text =
      format(".TH AUTOTUNE 1 \"\" \"autotune {}\" \"User Commands\"\n", AUTOTUNE_VERSION) +
      ".SH NAME\nautotune \\- auto\\-tuner for CUDA kernels\n"
      ".SH SYNOPSIS\n.B autotune\n[\\fIVERB\\fR] [\\fIoption\\fR\\ ...]\n"
      ".SH DESCRIPTION\n"
      "autotune finds the fastest correct configuration of a CUDA kernel for each GPU and size.\n"
      "Without a verb it tunes.\n"
      ".SH COMMANDS\n";
  for (const Verb* verb : verbs()) text += verb_text(*verb);
  text += ".SH EXIT STATUS\n" + line(literal(kStreams)) + ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : kEnvironment) {
    text += format(".TP\n\\fB{}\\fR\n", name) + line(literal(meaning));
  }
  return text;
}

}  // namespace autotune::cli
