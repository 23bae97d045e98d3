// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/start_limit.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "tuner/cli/verb.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

StartLimit::StartLimit(double seconds, const char* variable)
    : thread_([this, seconds, variable] { watch(seconds, variable); }) {}

StartLimit::~StartLimit() {
  {
    const std::lock_guard lock(mutex_);
    has_started_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void StartLimit::watch(double seconds, const char* variable) {
  std::unique_lock lock(mutex_);
  const std::chrono::duration<double> limit(seconds);
  if (changed_.wait_for(lock, limit, [this] { return has_started_; })) return;
  std::cerr << format(
      "error: a rank did not start within {:.3g} s; run the same command again, with a larger {} "
      "if ranks need longer\n",
      seconds, variable);
  kill_stopped_children(getppid());
  _exit(cli::kFailed);
}

void kill_stopped_children(int parent) {
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto end = name.data() + name.size();
    if (std::from_chars(name.data(), end, pid).ptr != end) continue;
    std::ifstream file(entry.path() / "stat");
    std::string line;
    std::getline(file, line);
    // After the command's name, which may hold spaces and brackets: state and parent.
    std::istringstream fields(line.substr(std::min(line.size(), line.rfind(')') + 1)));
    char state = 0;
    pid_t its_parent = 0;
    if (fields >> state >> its_parent && its_parent == parent && state == 'T') kill(pid, SIGKILL);
  }
}

}  // namespace autotune
