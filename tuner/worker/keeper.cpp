// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/keeper.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// Processes that are killed are looked for so often, 20 ms apart. A GPU's driver may take some
/// seconds to end one.
constexpr int kMostRounds = 1000;
constexpr int kRoundMilliseconds = 20;

/// Orphans of the worker's become children of this process.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", failed)) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");  // a name may have any character
    int parent = 0;
    if (name_end == std::string::npos) continue;
    if (std::sscanf(text.c_str() + name_end, ") %*c %d", &parent) != 1) continue;
    if (parent == getpid()) found.push_back(std::atoi(text.c_str()));
  }
  return found;
}

/// A descriptor from which SIGCHLD and SIGTERM are read.
int signals_of_interest() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

class Keeper {
 public:
  /// `signals`: see signals_of_interest().
  Keeper(pid_t worker, int signals) : worker_(worker), signals_(signals) {}

  /// Returns the wait status of the worker when nothing of it is left; kAskedToEnd if this process
  /// killed it.
  int wait_and_end() {
    while (!has_ended_ && wait(-1)) reap();
    const bool kills = !has_ended_;
    if (kills) kill(worker_, SIGKILL);
    for (int i = 0; i < kMostRounds && !reap(); ++i) {
      for (const pid_t child : children()) kill(child, SIGKILL);
      wait(kRoundMilliseconds);
    }
    return kills ? kAskedToEnd : status_;
  }

 private:
  /// An exit status: to the parent, a signal means that somebody else killed the worker.
  static constexpr int kAskedToEnd = W_EXITCODE(1, 0);

  /// Waits for the end of a child. Returns false if the worker is to end.
  bool wait(int milliseconds) {
    pollfd events[] = {{signals_, POLLIN, 0}, {kWorkerSocket, POLLRDHUP, 0}};
    const bool ending = milliseconds >= 0;
    poll(events, ending ? 1 : 2, milliseconds);
    bool asked_to_end = events[1].revents != 0;
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) asked_to_end = true;
    }
    return !asked_to_end;
  }

  /// Takes the children that have ended. Returns whether none is left.
  bool reap() {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != worker_) continue;
      has_ended_ = true;
      status_ = status;
    }
    return ended < 0 && errno == ECHILD;
  }

  const pid_t worker_;
  const int signals_;
  bool has_ended_ = false;
  int status_ = SIGKILL;
};

[[noreturn]] void end_with(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the worker has left its own
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t signals;
  sigfillset(&signals);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  _exit(128 + number);
}

}  // namespace

void keep_worker(const fs::path& folder) {
  sigset_t signals, before;
  sigfillset(&signals);
  sigprocmask(SIG_SETMASK, &signals, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t keeper = getpid();
  const int interest = signals_of_interest();
  const pid_t worker = interest < 0 ? -1 : fork();
  if (worker < 0) throw Error(format("no process for a worker: {}", std::strerror(errno)));
  if (worker == 0) {
    close(interest);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  const int status = Keeper(worker, interest).wait_and_end();
  std::error_code failed;
  if (!folder.empty()) fs::remove_all(folder, failed);
  end_with(status);
}

}  // namespace autotune
