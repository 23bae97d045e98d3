// SPDX-License-Identifier: Apache-2.0
// autotune-worker DEVICE CACHE runs kernels, --plugin FILE a plugin, --compile FOLDER compilers,
// --run BYTES a program that prints at most so many, for the program that started it, which alone
// speaks to it, over descriptor 3. Folders behind DEVICE CACHE confine it: see confine().
// --within BYTES FOLDER READABLE… -- PROGRAM… becomes a program, which writes to the folder only,
// if folders to read are named, and inherits descriptor 3. The folder is removed at its end. BYTES,
// unless it is 0, is the memory that it may take. What is confined otherwise may take half of what
// is free.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tuner/core/error.hpp"
#include "tuner/host/host_compiler.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/confinement.hpp"
#include "tuner/worker/worker_device.hpp"
#include "tuner/worker/worker_process.hpp"

namespace {

/// Compilers occupy all cores. The search and the processes that launch kernels take precedence.
constexpr int kNiceness = 5;

/// Compilers put temporary files into the folder and report in English. The process name sets them
/// apart from workers that run kernels.
void prepare_for_compilers(const char* folder) {
  prctl(PR_SET_NAME, "autotune-compile");
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + kNiceness);
  setenv("TMPDIR", folder, 1);
  setenv("LC_ALL", "C", 1);
}

/// Describes the fault on the last line of stderr. The signal then ends the process.
void tell_fault(int signal, siginfo_t* info, void*) {
  char line[128];
  const bool memory = signal == SIGSEGV || signal == SIGBUS;
  const bool misaligned = memory && info->si_code == SI_KERNEL;  // the address is not told
  const int length =
      misaligned ? std::snprintf(line, sizeof line,
                                 "illegal memory access: misaligned, as a float4 that is not at a "
                                 "multiple of 16 bytes\n")
      : memory   ? std::snprintf(line, sizeof line, "illegal memory access at %p\n", info->si_addr)
                 : std::snprintf(line, sizeof line, "illegal instruction or division\n");
  if (write(2, line, static_cast<std::size_t>(length)) < 0) return;
  // The faulting instruction runs again and faults; a signal from kill() would be lost.
  const bool was_sent = info->si_code <= 0;
  if (was_sent) raise(signal);
}

/// Does not return.
void become(std::span<char* const> words) {
  const auto end = std::ranges::find(words, std::string_view("--"));
  if (words.end() - end < 2) throw autotune::Error("--within: there is no program");
  const std::vector<std::filesystem::path> readable(words.begin() + 1, end);
  if (!readable.empty()) {
    const std::filesystem::path folder = words[0];
    autotune::confine(readable, true, std::span(&folder, 1));
  }
  execv(*(end + 1), &*end + 1);
  throw autotune::Error(autotune::format("{}: {}", *(end + 1), std::strerror(errno)));
}

void tell_faults() {
  struct sigaction action {};
  action.sa_sigaction = &tell_fault;
  // SA_RESETHAND: the second fault takes the default action and ends the process.
  action.sa_flags = SA_SIGINFO | static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  autotune::Channel parent(autotune::kWorkerSocket);
  parent.send(autotune::worker_greeting(), {}, -1);
  if (argc < 3) {
    std::fputs("autotune-worker is started by autotune; do not start it by hand\n", stderr);
    return 2;
  }
  const std::string_view mode = argv[1];
  const bool compiles = mode == "--compile", is_within = mode == "--within";
  signal(SIGINT, SIG_IGN);  // the parent handles Ctrl-C
  try {
    if (compiles) prepare_for_compilers(argv[2]);
    const bool is_confined = !mode.starts_with("--") && argc > 3;
    autotune::keep_worker(compiles                ? argv[2]
                          : is_within && argc > 3 ? argv[3]
                                                  : "",
                          is_within     ? std::atoll(argv[2])
                          : is_confined ? autotune::available_memory_bytes() / 2
                                        : 0);
    if (is_within) become({argv + 3, argv + argc});
    tell_faults();
    if (compiles) {
      autotune::serve_compiler(parent);
    } else if (mode == "--plugin") {
      autotune::serve_plugin(parent, argv[2]);
    } else if (mode == "--run") {
      autotune::serve_program(parent, std::strtoull(argv[2], nullptr, 10));
    } else {
      const auto cache = std::make_shared<autotune::BuildCache>(argv[2]);
      if (is_confined) {
        autotune::confine(std::vector<std::filesystem::path>(argv + 3, argv + argc),
                          mode != "host");
      }
      const auto device = autotune::make_local_device(argv[1], cache);
      autotune::serve(parent, *device);
      autotune::end_worker();  // before destructors of what a kernel may have damaged
    }
    autotune::end_worker();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
