// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/kernel_file.hpp"

#include <optional>
#include <utility>

namespace autotune {

Tokens member_of(const Tokens& tokens, std::size_t end, const std::string& config,
                 std::string_view member, std::size_t index) {
  Tokens value;
  for (std::size_t i = 0; i + 4 < end; ++i) {
    if (tokens[i] != config) continue;
    const std::size_t open = tokens[i + 1] == "=" ? i + 2 : i + 1;
    if (tokens[open] == "{") {
      const std::vector<Tokens> all = items_in(tokens, open);
      if (index < all.size() && !all[index].empty() && all[index][0] != ".") value = all[index];
      for (const Tokens& each : all) {
        if (each.size() > 3 && each[0] == "." && each[1] == member)
          value = part_of(each, 3, each.size());
      }
    }
    if (tokens[i + 2] == member && tokens[i + 3] == "=")
      value = part_of(tokens, i + 4, position(tokens, ";", i));
  }
  return value;
}

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

/// Takes the name of a kernel, which may be a template's instance: `(void*)scale<float, 4>`.
void name_kernel(LaunchInSource& launch, const Tokens& kernel) {
  launch.kernel = kernel[0];
  if (kernel.size() > 2) launch.templates = items_in(kernel, 1);
}

/// The elements of an array of the function: `void* arguments[] = {&x, &n}`.
std::vector<Tokens> elements_of(const Tokens& tokens, const std::string& array) {
  std::vector<Tokens> all;
  for (std::size_t i = 1; i + 4 < tokens.size(); ++i) {
    if (tokens[i - 1] != "*" || tokens[i] != array || tokens[i + 1] != "[") continue;
    for (const Tokens& each : items_in(tokens, position(tokens, "{", i))) {
      if (!each.empty()) all.push_back(without_cast(each));
    }
    break;
  }
  return all;
}

/// `cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream)`, with the arguments in an
/// array of the function.
std::optional<LaunchInSource> call_at(const Tokens& tokens, std::size_t at) {
  const std::vector<Tokens> given = items_in(tokens, at + 1);
  if (given.size() < 4) return std::nullopt;
  LaunchInSource launch;
  const Tokens kernel = without_cast(given[0]), array = without_cast(given[3]);
  if (kernel.empty() || array.size() != 1) return std::nullopt;
  name_kernel(launch, kernel);
  launch.configuration = {given[1], given[2]};
  if (given.size() > 4 && given[4] != Tokens{"0"}) launch.configuration.push_back(given[4]);
  launch.arguments = elements_of(tokens, array[0]);
  launch.is_cooperative = tokens[at] == "cudaLaunchCooperativeKernel";
  return launch;
}

/// `cudaLaunchKernelEx(&config, kernel, arguments…)`, or `cudaLaunchKernelExC(&config, kernel,
/// array)`.
std::optional<LaunchInSource> configured_call_at(const Tokens& tokens, std::size_t at) {
  const std::size_t comma = position(tokens, ",", at), end = closing(tokens, at + 1);
  const Tokens config = without_cast(part_of(tokens, at + 2, comma));
  if (config.size() != 1 || comma >= end) return std::nullopt;
  std::size_t last = comma + 1;  // of the kernel: its template arguments have commas, too
  while (last < end && tokens[last] != ",") {
    last = tokens[last] == "<"   ? closing_angle(tokens, last) + 1
           : tokens[last] == "(" ? closing(tokens, last) + 1
                                 : last + 1;
  }
  const Tokens kernel = without_cast(part_of(tokens, comma + 1, last));
  if (kernel.empty()) return std::nullopt;
  LaunchInSource launch;
  name_kernel(launch, kernel);
  const auto member = [&](std::string_view name, std::size_t index) {
    return member_of(tokens, at, config[0], name, index);
  };
  launch.configuration = {member("gridDim", 0), member("blockDim", 1)};
  if (launch.configuration[0].empty() || launch.configuration[1].empty()) return std::nullopt;
  const Tokens shared = member("dynamicSmemBytes", 2);
  if (!shared.empty() && shared != Tokens{"0"}) launch.configuration.push_back(shared);
  launch.arguments = split_tokens(part_of(tokens, last + 1, end), ",");
  if (tokens[at] == "cudaLaunchKernelExC") {
    const Tokens array = without_cast(launch.arguments[0]);
    if (array.size() == 1) launch.arguments = elements_of(tokens, array[0]);
  }
  launch.is_cooperative = contains(tokens, "cudaLaunchAttributeCooperative");
  for (const char axis : {'x', 'y', 'z'}) {
    for (std::size_t i = 0; i + 4 < at; ++i) {
      const bool is_set = tokens[i] == "clusterDim" && tokens[i + 2] == std::string(1, axis) &&
                          tokens[i + 3] == "=";
      if (is_set) launch.cluster.push_back(part_of(tokens, i + 4, position(tokens, ";", i)));
    }
  }
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
  const auto add = [&](std::optional<LaunchInSource> launch, std::size_t at) {
    if (!launch) return;
    resolve_variable(*launch, tokens);
    launch->function_name = function;
    if (tokens[0] == "template") launch->function_templates = template_parameters(tokens);
    launch->parameters = parameters_of(tokens);
    launch->function = part_of(tokens, 0, position(tokens, ";", at) + 1);
    all.push_back(std::move(*launch));
  };
  for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (!tokens[i].starts_with("cudaLaunch") || tokens[i + 1] != "(") continue;
    if (tokens[i].ends_with("Kernel")) add(call_at(tokens, i), i);  // also a cooperative one
    if (tokens[i].find("KernelEx") != std::string::npos) add(configured_call_at(tokens, i), i);
  }
  for (std::size_t at = position(tokens, "<<<"); at < tokens.size();
       at = position(tokens, "<<<", at + 1)) {
    add(launch_at(tokens, at), at);
  }
  return all;
}

}  // namespace autotune
