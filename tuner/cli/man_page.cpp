// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/man_page.hpp"

#include <algorithm>

#include "tuner/cli/help.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"

namespace autotune::cli {
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
  text += ".SH EXIT STATUS\n" + line(literal(streams_and_status())) + ".SH ENVIRONMENT\n";
  for (const auto& [name, meaning] : environment_variables()) {
    text += format(".TP\n\\fB{}\\fR\n", name) + line(literal(meaning));
  }
  return text;
}

}  // namespace autotune::cli
