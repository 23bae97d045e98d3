// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/cluster_dims.hpp"

#include "tuner/cache/directives.hpp"
#include "tuner/text/strings.hpp"

namespace autotune {
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
