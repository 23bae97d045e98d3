// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <initializer_list>
#include <string_view>

namespace autotune::cli {
namespace {

constexpr int kInterrupted = 130;
volatile std::sig_atomic_t requests = 0;
bool on_terminal = false;

extern "C" void on_interrupt(int) {
  if (requests > 0) _exit(kInterrupted);
  requests = 1;
  const std::string_view note = "\nending after what runs now; once more ends it at once\n";
  const std::size_t start = on_terminal ? 0 : 1;  // there a line of progress may stand
  static_cast<void>(!write(STDERR_FILENO, note.data() + start, note.size() - start));
}

/// What the caller has had ignored (nohup, a shell's background) stays so.
void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  on_terminal = isatty(STDERR_FILENO) == 1;
  install(on_interrupt);
}
InterruptGuard::~InterruptGuard() { install(SIG_DFL); }
bool InterruptGuard::requested() { return requests != 0; }

}  // namespace autotune::cli
