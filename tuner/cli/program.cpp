// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program.hpp"

#include <fcntl.h>

#include <csignal>
#include <iostream>
#include <new>
#include <string>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::cli {
namespace {

/// A pipe that nobody reads and a file that may not grow are errors like any others; and no file
/// that is opened later takes the place of a stream that the caller has closed.
void secure_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY);
  }
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
    return std::cout ? status
                     : report("cannot write all of stdout (is the disk full, or the reader gone?)",
                              kFailed);
  } catch (const UsageError& error) {
    return report(error.what(), kWrongUsage);
  } catch (const std::bad_alloc&) {
    return report("out of memory; try a smaller problem or space", kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}

}  // namespace autotune::cli
