// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/compiler_log.hpp"

namespace autotune {

std::string first_error(std::string_view log) {
  std::string_view first;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(line.size() == log.size() ? line.size() : line.size() + 1);
    if (line.find("error") != std::string_view::npos) return std::string(line);
    if (first.empty()) first = line;
  }
  return std::string(first);
}

}  // namespace autotune
