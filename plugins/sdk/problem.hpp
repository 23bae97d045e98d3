// SPDX-License-Identifier: Apache-2.0
// Reads the problem of a baseline, for the plugins of this project.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "plugins/sdk/autotune_plugin.h"

namespace autotune_plugin_text {

/// The value of `name` in a text such as `M=512 N=512 layout=NN`, or `otherwise`.
inline std::string word(std::string_view problem, std::string_view name,
                        std::string_view otherwise) {
  const std::string key = " " + std::string(name) + "=";
  const std::string text = " " + std::string(problem) + " ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::string(otherwise);
  const std::size_t start = at + key.size();
  return text.substr(start, text.find(' ', start) - start);
}

/// Throws std::runtime_error.
template <class Number = int>
Number number(std::string_view problem, std::string_view name, const char* otherwise) {
  const std::string text = word(problem, name, otherwise);
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw std::runtime_error(std::string(name) + "=" + text + " is not a number");
  }
  return value;
}

/// The value of a free size, which is `otherwise` by default. Throws std::runtime_error.
inline std::int64_t free_size(std::string_view problem, std::string_view name,
                              std::int64_t otherwise) {
  return number<std::int64_t>(problem, name, std::to_string(otherwise).c_str());
}

/// Throws std::runtime_error if the problem has no such buffer.
inline std::size_t buffer_called(const autotune_baseline_problem_v1& problem,
                                 std::string_view name) {
  for (std::uint32_t i = 0; i < problem.count; ++i) {
    if (problem.buffers[i].name == name) return i;
  }
  throw std::runtime_error("the problem has no buffer " + std::string(name));
}

/// Runs `call` and turns an exception into a reason, which is valid until the next call.
template <class Call>
const char* reason_of(const Call& call) {
  static std::string reason;
  try {
    call();
    return nullptr;
  } catch (const std::exception& error) {
    reason = error.what();
    return reason.c_str();
  }
}

}  // namespace autotune_plugin_text
