// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>

#include "tuner/core/error.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

extern char** environ;

namespace autotune {

namespace fs = std::filesystem;

namespace {

/// An unnamed file for the program's output. Unlike a pipe, it never blocks the writer.
class OutputFile {
 public:
  OutputFile() : file_(memfd_create("output", MFD_CLOEXEC)) {
    if (file_ < 0) throw Error(format("no file for a program's output: {}", std::strerror(errno)));
  }
  ~OutputFile() { close(file_); }
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  int file() const { return file_; }

  std::string text() const {
    std::string text;
    char block[4096];
    ssize_t got = 0;
    while ((got = pread(file_, block, sizeof block, static_cast<off_t>(text.size()))) > 0) {
      text.append(block, static_cast<std::size_t>(got));
    }
    return text;
  }

 private:
  int file_;
};

/// Whether the child has ended before the limit.
bool wait_until(pid_t child, double limit_seconds) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return true;  // Linux before 5.3: waits without a limit
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(limit_seconds);
  int ready = 0;
  do {
    const std::chrono::duration<double, std::milli> left = end - Clock::now();
    pollfd ended{handle, POLLIN, 0};
    ready = poll(&ended, 1, left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0);
  } while (ready < 0 && errno == EINTR);
  close(handle);
  return ready > 0;
}

/// Waits for its end.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

pid_t start_process(const std::vector<std::string>& argv, int output,
                    const std::vector<Handed>& handed, ProcessGroup group) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  for (const Handed& one : handed) {
    posix_spawn_file_actions_adddup2(&actions, one.descriptor, one.as);
  }
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigaddset(&signals, SIGTERM);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                    (group == ProcessGroup::own ? POSIX_SPAWN_SETPGROUP : 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags));
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, argv[0].c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw Error(format("{} cannot be started: {}", argv[0], std::strerror(failed)));
  return child;
}

ProcessResult run_process(const std::vector<std::string>& argv, double limit_seconds) {
  const OutputFile output;
  const pid_t child = start_process(argv, output.file());
  const bool late = !wait_until(child, limit_seconds);
  if (late) kill(-child, SIGKILL);
  return {late, status_of(child), output.text()};
}

ProcessResult run_beside_us(const std::vector<std::string>& argv) {
  const OutputFile output;
  const pid_t child = start_process(argv, output.file(), {}, ProcessGroup::ours);
  return {false, status_of(child), output.text()};
}

fs::path find_program(const std::string& name) {
  const auto runs = [](const fs::path& path) {
    std::error_code failed;
    return fs::is_regular_file(path, failed) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return runs(name) ? fs::path(name) : fs::path();
  const std::string path = environment_variable("PATH");
  std::istringstream folders(path.empty() ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (const fs::path found = fs::path(folder) / name; runs(found)) return found;
  }
  return {};
}

}  // namespace autotune
