// SPDX-License-Identifier: Apache-2.0
// Runs a shell command and keeps its output.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace autotune::testing {

struct Ran {
  int status = -1;
  std::string output;  // stdout and stderr
};

inline Ran run_command(const std::string& command) {
  Ran ran;
  FILE* const pipe = popen(("{ " + command + "; } 2>&1").c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
    ran.output.append(block.data(), got);
  }
  const int status = pclose(pipe);
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

}  // namespace autotune::testing
