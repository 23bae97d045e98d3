// SPDX-License-Identifier: Apache-2.0
// autotune-worker DEVICE CACHE runs kernels, autotune-worker --plugin FILE a plugin, for the
// program that started it, which alone speaks to it, over descriptor 3.
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <thread>

#include "tuner/worker/plugin_server.hpp"
#include "tuner/worker/worker_device.hpp"
#include "tuner/worker/worker_process.hpp"
#include "tuner/worker/worker_server.hpp"

namespace {

/// Ends this process as soon as the parent's end of the socket is closed, whatever kernel runs. Not
/// PR_SET_PDEATHSIG: that comes when the thread ends that started the worker.
void end_with_parent() {
  std::thread([] {
    for (;;) {
      pollfd parent{autotune::kWorkerSocket, POLLRDHUP, 0};
      if (poll(&parent, 1, -1) > 0) _exit(0);
    }
  }).detach();
}

/// Says what happened, on the last line of stderr; the signal then ends the process.
void tell_fault(int signal, siginfo_t* info, void*) {
  char line[128];
  const bool memory = signal == SIGSEGV || signal == SIGBUS;
  const int length =
      memory ? std::snprintf(line, sizeof line, "illegal memory access at %p\n", info->si_addr)
             : std::snprintf(line, sizeof line, "illegal instruction or division\n");
  if (write(2, line, static_cast<std::size_t>(length)) < 0) return;
}

void tell_faults() {
  struct sigaction action {};
  action.sa_sigaction = &tell_fault;
  // Back to the default: the instruction faults once more and ends the process.
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  autotune::Channel parent(autotune::kWorkerSocket);
  parent.send(autotune::worker_greeting(), {}, -1);
  if (argc != 3) {
    std::fputs("autotune-worker is started by autotune; there is nothing to do with it by hand\n",
               stderr);
    return 2;
  }
  signal(SIGINT, SIG_IGN);  // Ctrl-C is the parent's affair
  end_with_parent();
  tell_faults();
  try {
    if (std::strcmp(argv[1], "--plugin") == 0) {
      autotune::serve_plugin(parent, argv[2]);
      _exit(0);
    }
    const auto cache = std::make_shared<autotune::BuildCache>(argv[2]);
    const auto device = autotune::make_local_device(argv[1], cache);
    autotune::serve(parent, *device);
    // Kernels may have left anything behind: nothing is taken down.
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
