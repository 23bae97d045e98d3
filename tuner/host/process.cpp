// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <sstream>
#include <string_view>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/environment.hpp"
#include "tuner/text/format.hpp"

extern char** environ;

namespace autotune {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

/// A pipe for what a program prints. It must be read while the program runs, which else waits.
class Printed {
 public:
  /// Keeps so many of the first bytes, and of the last.
  Printed(std::size_t first, std::size_t last) : most_first_(first), most_last_(last) {
    if (pipe2(ends_, O_CLOEXEC) != 0) {
      throw Error(format("no pipe for a program's output: {}", std::strerror(errno)));
    }
    fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~Printed() {
    close_end(0);
    close_end(1);
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;

  int writer() const { return ends_[1]; }
  /// Call it once the program has started.
  void close_writer() { close_end(1); }
  /// -1 when no program can write any more.
  int reader() const { return ends_[0]; }

  /// Takes what is there, which is at most what a pipe holds.
  void read() {
    if (reader() < 0) return;
    std::array<char, std::size_t{64} << 10> block;
    const ssize_t got = ::read(reader(), block.data(), block.size());
    if (got > 0) add({block.data(), static_cast<std::size_t>(got)});
    if (got == 0) close_end(0);
  }

  std::size_t bytes_left_out() const { return bytes_left_out_; }

  std::string text() const {
    if (bytes_left_out_ == 0) return first_ + last_;
    return format("{}\n[{} bytes are left out here]\n{}", first_, bytes_left_out_, last_);
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) close(std::exchange(ends_[end], -1));
  }

  void add(std::string_view bytes) {
    const std::size_t more = std::min(bytes.size(), most_first_ - first_.size());
    first_ += bytes.substr(0, more);
    last_ += bytes.substr(more);
    const std::size_t excess = last_.size() - std::min(last_.size(), most_last_);
    bytes_left_out_ += excess;
    last_.erase(0, excess);
  }

  const std::size_t most_first_, most_last_;
  int ends_[2] = {-1, -1};
  std::string first_, last_;
  std::size_t bytes_left_out_ = 0;
};

bool has_ended(pid_t child) {
  siginfo_t info{};
  const int failed = waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return failed != 0 ? errno == ECHILD : info.si_pid == child;
}

/// Reads what a program prints until it has ended, or until `stop()`. Whether it has ended.
template <class Stop>
bool attend(pid_t child, std::initializer_list<Printed*> outputs, const Stop& stop) {
  for (Printed* const output : outputs) output->close_writer();
  bool ended = false;
  while (!(ended = has_ended(child)) && !stop()) {
    std::vector<pollfd> ready;
    for (const Printed* const output : outputs) {
      if (output->reader() >= 0) ready.push_back({output->reader(), POLLIN, 0});
    }
    // A program may close its outputs, or leave them to programs that outlive it.
    poll(ready.data(), ready.size(), ready.empty() ? 1 : 20);
    for (Printed* const output : outputs) output->read();
  }
  for (Printed* const output : outputs) output->read();
  return ended;
}

/// Waits for its end.
int status_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

pid_t start_process(const std::vector<std::string>& argv, Outputs outputs,
                    const std::vector<Handed>& handed, ProcessGroup group, const fs::path& folder) {
  std::vector<char*> arguments;
  for (const std::string& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, outputs.out, 1);
  posix_spawn_file_actions_adddup2(&actions, outputs.err, 2);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
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

ProcessResult run_process(const std::vector<std::string>& argv, double limit_seconds,
                          const fs::path& folder) {
  Printed printed(kMostOutput / 2, kMostOutput / 2);
  const auto end = Clock::now() + std::chrono::duration<double>(limit_seconds);
  const pid_t child =
      start_process(argv, {printed.writer(), printed.writer()}, {}, ProcessGroup::own, folder);
  const bool ended = attend(child, {&printed}, [&] { return Clock::now() > end; });
  if (!ended) kill(-child, SIGKILL);
  const int status = status_of(child);
  return {!ended, status, printed.text()};
}

ProcessResult run_beside_us(const std::vector<std::string>& argv, const fs::path& folder) {
  Printed printed(kMostOutput / 2, kMostOutput / 2);
  const Outputs both{printed.writer(), printed.writer()};
  const pid_t child = start_process(argv, both, {}, ProcessGroup::ours, folder);
  attend(child, {&printed}, [] { return false; });
  return {false, status_of(child), printed.text()};
}

ProcessText text_of_process(const std::vector<std::string>& argv, std::size_t most_bytes) {
  Printed text(most_bytes, 0), remarks(kMostOutput / 2, kMostOutput / 2);
  const Outputs outputs{text.writer(), remarks.writer()};
  const pid_t child = start_process(argv, outputs, {}, ProcessGroup::ours);
  const auto is_too_long = [&] { return text.bytes_left_out() > 0; };
  const bool ended = attend(child, {&text, &remarks}, is_too_long);
  ProcessText result{{false, ended ? status_of(child) : 0, remarks.text()}, {}, is_too_long()};
  if (!result.is_too_long) result.text = text.text();
  return result;
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
