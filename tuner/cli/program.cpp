// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <new>
#include <string>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::cli {
namespace {

constexpr int kReaderGone = 128 + SIGPIPE;  // as of a program that the signal ended

/// Makes streams safe. No signal ends the program if nobody reads a pipe or a file may not grow. No
/// file that is opened later takes the descriptor of a stream that the caller has closed.
void secure_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
}

/// Whether the reader of a pipe has closed it, as `head` does.
bool reader_is_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int report(const std::string& sentence, int status) {
  std::cerr << "error: " << sentence << '\n';
  return status;
}

}  // namespace

int run_program(const std::function<int()>& body) {
  secure_streams();
  const PrintableStream safe_out(std::cout), safe_err(std::cerr);
  try {
    const int status = body();
    std::cout.flush();
    if (std::cout) return status;
    if (reader_is_gone()) return kReaderGone;
    return report("cannot write all of stdout: is the disk full?", kFailed);
  } catch (const UsageError& error) {
    return report(error.what(), kWrongUsage);
  } catch (const std::bad_alloc&) {
    return report("out of memory; try a smaller problem or space", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}

}  // namespace autotune::cli
