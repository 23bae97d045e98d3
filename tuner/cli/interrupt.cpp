// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace autotune::cli {
namespace {

constexpr int kInterrupted = 130;
volatile std::sig_atomic_t requests = 0;

extern "C" void on_interrupt(int) {
  if (requests > 0) _exit(kInterrupted);
  requests = 1;
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

InterruptGuard::InterruptGuard() { install(on_interrupt); }
InterruptGuard::~InterruptGuard() { install(SIG_DFL); }
bool InterruptGuard::requested() { return requests != 0; }

}  // namespace autotune::cli
