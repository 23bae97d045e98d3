// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/interrupt.hpp"

#include <unistd.h>

#include <csignal>

namespace autotune::cli {
namespace {

constexpr int kInterrupted = 130;
volatile std::sig_atomic_t requests = 0;

extern "C" void on_interrupt(int) {
  if (requests > 0) _exit(kInterrupted);
  requests = 1;
}

void install(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() { install(on_interrupt); }
InterruptGuard::~InterruptGuard() { install(SIG_DFL); }
bool InterruptGuard::requested() { return requests != 0; }

}  // namespace autotune::cli
