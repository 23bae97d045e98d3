// SPDX-License-Identifier: Apache-2.0
// The tool: picks the verb, runs it, turns what is thrown into one sentence and a status.
#include <fcntl.h>

#include <algorithm>
#include <csignal>
#include <iostream>
#include <new>
#include <string>
#include <vector>

#include "tuner/cli/arguments.hpp"
#include "tuner/cli/help.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::cli {
namespace {

int run(std::vector<std::string> words) {
  if (words.empty() || words[0] == "--help" || words[0] == "-h") {
    (words.empty() ? std::cerr : std::cout) << overview();
    return words.empty() ? kWrongUsage : kDone;
  }
  if (words[0] == "--version") {
    std::cout << "autotune " << AUTOTUNE_VERSION << '\n';
    return kDone;
  }
  const Verb& verb = words[0].starts_with("-") ? *verbs().front() : verb_called(words[0]);
  if (!words[0].starts_with("-")) words.erase(words.begin());
  const auto asks_for_help = [](const std::string& word) {
    return word == "--help" || word == "-h";
  };
  const auto end = std::ranges::find(words, "--");  // what follows is another program's
  if (std::any_of(words.begin(), end, asks_for_help)) {
    std::cout << help_of(verb);
    return kDone;
  }
  return verb.run(Arguments(verb, words));
}

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
}  // namespace autotune::cli

int main(int argc, char** argv) {
  using namespace autotune;
  cli::secure_streams();
  const PrintableStream safe_out(std::cout), safe_err(std::cerr);
  try {
    const int status = cli::run({argv + 1, argv + argc});
    std::cout.flush();
    return std::cout
               ? status
               : cli::report("cannot write all of stdout (is the disk full, or the reader gone?)",
                             cli::kFailed);
  } catch (const UsageError& error) {
    return cli::report(error.what(), cli::kWrongUsage);
  } catch (const std::bad_alloc&) {
    return cli::report("out of memory; try a smaller problem or space", cli::kFailed);
  } catch (const std::exception& error) {
    return cli::report(error.what(), cli::kFailed);
  }
}
