// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "tuner/cli/report.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune::cli {

int run_watch(const Arguments&) {
  const std::string program = find_program_of_ours("autotune-watch").string();
  if (program.empty()) {
    throw Error(
        "this installation has no autotune-watch: install libcpp-httplib-dev and build again; "
        "`autotune report` writes the same page to a file");
  }
  std::vector<std::string> words;
  std::ifstream command("/proc/self/cmdline");
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace autotune::cli
