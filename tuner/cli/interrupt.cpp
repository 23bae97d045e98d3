// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/host/temporary_folder.hpp"
#include "tuner/text/format.hpp"

namespace autotune::cli {
namespace {

volatile std::sig_atomic_t requests = 0;
bool on_terminal = false;
int listener_pipe[2] = {-1, -1};  // a pipe from the handler to the listener

void say_first() {
  const std::string_view note = "\nending after the running launch; a second Ctrl-C ends at once\n";
  const std::size_t start = on_terminal ? 0 : 1;  // ends a line of progress
  static_cast<void>(!write(STDERR_FILENO, note.data() + start, note.size() - start));
}

extern "C" void on_signal(int number) {
  const int before = errno;
  if (number != SIGQUIT) requests = requests + 1;
  if (requests > 2) _exit(kInterrupted);  // the listener is stuck
  if (number != SIGQUIT && requests == 1) say_first();
  const auto byte = static_cast<unsigned char>(number);
  static_cast<void>(!write(listener_pipe[1], &byte, 1));
  errno = before;
}

extern "C" void on_signal_at_start(int number) {
  const std::string_view note = "\ninterrupted at the start: nothing was measured\n";
  static_cast<void>(!write(STDERR_FILENO, note.data(), note.size()));
  if (number != SIGQUIT) _exit(kInterrupted);
  signal(SIGQUIT, SIG_DFL);
  raise(SIGQUIT);
}

/// Signals that the caller ignores stay ignored (nohup, background jobs).
void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaction(number, &action, nullptr);
  }
}

[[noreturn]] void quit() {
  signal(SIGQUIT, SIG_DFL);
  raise(SIGQUIT);
  _exit(kInterrupted);
}

/// Workers end with this process.
void listen(const std::function<void()>& on_first) {
  unsigned char number = 0;
  for (int requested = 0; read(listener_pipe[0], &number, 1) == 1;) {
    if (number == SIGQUIT || ++requested > 1) remove_own_folders();
    if (number == SIGQUIT) quit();
    if (requested > 1) _exit(kInterrupted);
    on_first();
  }
}

}  // namespace

void catch_interrupts_at_start() { install(on_signal_at_start); }

InterruptGuard::InterruptGuard(std::function<void()> on_first) {
  if (pipe2(listener_pipe, O_CLOEXEC) != 0) {
    throw Error(format("no pipe for signals: {}", std::strerror(errno)));
  }
  on_terminal = isatty(STDERR_FILENO) == 1;
  listener_ = std::thread([on_first = std::move(on_first)] { listen(on_first); });
  install(on_signal);
}

InterruptGuard::~InterruptGuard() {
  install(SIG_DFL);
  close(listener_pipe[1]);
  listener_.join();
  close(listener_pipe[0]);
}

bool InterruptGuard::requested() { return requests != 0; }

}  // namespace autotune::cli
