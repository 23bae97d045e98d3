// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_file.hpp"

#include <optional>
#include <utility>

namespace autotune {
namespace {

/// `&x`, `(void*)&x` and `reinterpret_cast<void*>(x)` without what stands around x.
Tokens without_cast(Tokens tokens) {
  for (std::size_t before = 0; before != tokens.size() && !tokens.empty();) {
    before = tokens.size();
    const std::size_t end = closing(tokens, 0);
    if (tokens[0] == "&") {
      tokens.erase(tokens.begin());
    } else if (tokens[0] == "(" && end + 1 < tokens.size()) {
      tokens = part_of(tokens, end + 1, tokens.size());
    } else if (tokens[0] == "(") {
      tokens = part_of(tokens, 1, end);
    } else if (tokens[0].ends_with("_cast")) {
      tokens = part_of(tokens, closing_angle(tokens, 1) + 1, tokens.size());
    }
  }
  return tokens;
}

/// `cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream)`, with the arguments in an
/// array of the function.
std::optional<LaunchInSource> call_at(const Tokens& tokens, std::size_t at) {
  const std::vector<Tokens> given = items_in(tokens, at + 1);
  if (given.size() < 4) return std::nullopt;
  LaunchInSource launch;
  const Tokens kernel = without_cast(given[0]), array = without_cast(given[3]);
  if (kernel.empty() || array.size() != 1) return std::nullopt;
  launch.kernel = kernel[0];
  if (kernel.size() > 2) launch.templates = items_in(kernel, 1);
  launch.configuration = {given[1], given[2]};
  if (given.size() > 4 && given[4] != Tokens{"0"}) launch.configuration.push_back(given[4]);
  for (std::size_t i = 1; i + 4 < tokens.size(); ++i) {
    if (tokens[i - 1] != "*" || tokens[i] != array[0] || tokens[i + 1] != "[") continue;
    for (const Tokens& each : items_in(tokens, position(tokens, "{", i))) {
      if (!each.empty()) launch.arguments.push_back(without_cast(each));
    }
    break;
  }
  launch.is_cooperative = tokens[at] == "cudaLaunchCooperativeKernel";
  return launch;
}

/// At the `<<<`.
std::optional<LaunchInSource> launch_at(const Tokens& tokens, std::size_t at) {
  LaunchInSource launch;
  std::size_t name = at - 1;
  if (tokens[name] == ">") {
    int depth = 0;
    for (; name > 0; --name) {
      if (tokens[name] == ">") ++depth;
      if (tokens[name] == "<" && --depth == 0) break;
    }
    launch.templates = split_tokens(part_of(tokens, name + 1, at - 1), ",");
    --name;
  }
  launch.kernel = tokens[name];
  const std::size_t end = position(tokens, ">>>", at);
  launch.configuration = split_tokens(part_of(tokens, at + 1, end), ",");
  if (end + 1 >= tokens.size() || tokens[end + 1] != "(") return std::nullopt;
  launch.arguments = items_in(tokens, end + 1);
  return launch;
}

/// Replaces a variable of the function by the kernel that it holds: `auto k = kernel<16>;`
void resolve_variable(LaunchInSource& launch, const Tokens& tokens) {
  for (std::size_t i = 0; i + 3 < tokens.size() && launch.templates.empty(); ++i) {
    if (tokens[i] != launch.kernel || tokens[i + 1] != "=") continue;
    const Tokens value = without_cast(part_of(tokens, i + 2, position(tokens, ";", i)));
    if (value.empty() || !is_name(value[0])) continue;
    if (value.size() > 2 && value[1] == "<") {
      launch.templates = items_in(value, 1);
    } else if (value.size() > 1) {
      continue;
    }
    launch.kernel = value[0];
    break;
  }
}

}  // namespace

std::vector<LaunchInSource> launches_in(const std::string& function, const Tokens& tokens) {
  std::vector<LaunchInSource> all;
  const auto add = [&](std::optional<LaunchInSource> launch) {
    if (!launch) return;
    resolve_variable(*launch, tokens);
    launch->function_name = function;
    if (tokens[0] == "template") launch->function_templates = template_parameters(tokens);
    launch->parameters = parameters_of(tokens);
    launch->function = tokens;
    all.push_back(std::move(*launch));
  };
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    const bool calls =
        tokens[i] == "cudaLaunchKernel" || tokens[i] == "cudaLaunchCooperativeKernel";
    if (calls && tokens[i + 1] == "(") add(call_at(tokens, i));
  }
  for (std::size_t at = position(tokens, "<<<"); at < tokens.size();
       at = position(tokens, "<<<", at + 1)) {
    add(launch_at(tokens, at));
  }
  return all;
}

}  // namespace autotune
