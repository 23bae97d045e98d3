// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/grid_barrier.hpp"

#include <algorithm>
#include <vector>

#include "tuner/text/strings.hpp"

namespace autotune {
namespace {

struct Function {
  std::string name;
  bool is_kernel = false;
  std::string_view body;
  bool has_barrier = false;
};

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// Handles are in special registers. Old toolkits have functions for it.
bool reads_handle(std::string_view code) {
  return contains(code, "%envreg") || contains(code, "cudaCG");
}

bool is_in_name(char c) { return is_in_identifier(c) || c == '$'; }

/// The last name before a parameter list, in `.func (.param .b32 result) name(`.
std::string name_in(std::string_view head) {
  if (head = trimmed(head); head.starts_with('(')) head = trimmed(after_parentheses(head));
  return {head.begin(), std::ranges::find_if_not(head, is_in_name)};
}

/// Bodies begin and end with a brace at the start of a line.
std::vector<Function> functions_of(std::string_view ptx) {
  std::vector<Function> functions;
  for (;;) {
    const auto open = ptx.find("\n{");
    if (open == std::string_view::npos) return functions;
    const auto close = std::min(ptx.find("\n}", open), ptx.size());
    const std::string_view before = ptx.substr(0, open);
    const auto kernel = before.rfind(".entry "), other = before.rfind(".func ");
    const bool is_kernel = kernel != before.npos && (other == before.npos || kernel > other);
    const auto at = is_kernel ? kernel + 7 : other + 6;
    if (is_kernel || other != before.npos) {
      functions.push_back({name_in(before.substr(at)), is_kernel, ptx.substr(open, close - open)});
    }
    ptx.remove_prefix(close);
  }
}

}  // namespace

std::set<std::string> kernels_with_grid_barrier(std::string_view ptx) {
  if (!reads_handle(ptx)) return {};
  std::vector<Function> functions = functions_of(ptx);
  for (Function& each : functions) each.has_barrier = reads_handle(each.body);
  for (bool again = true; again;) {
    again = false;
    for (Function& caller : functions) {
      if (caller.has_barrier) continue;
      caller.has_barrier = std::ranges::any_of(functions, [&](const Function& called) {
        return called.has_barrier && !called.is_kernel && contains(caller.body, called.name);
      });
      again = again || caller.has_barrier;
    }
  }
  std::set<std::string> kernels;
  for (const Function& each : functions) {
    if (each.is_kernel && each.has_barrier) kernels.insert(each.name);
  }
  return kernels;
}

}  // namespace autotune
