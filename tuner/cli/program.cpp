// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <new>
#include <string_view>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/host/process.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/target/old_names.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/printable.hpp"

namespace autotune::cli {
namespace {

/// Sizes in the old order, as sizes of the target by name: `batch=8,M=64,N=64,K=64`.
std::string new_sizes(const OldName& old, std::string text, std::string_view option) {
  if (old.sizes.empty()) return text;
  const std::vector<std::string> kept = find_target(old.now).sizes;
  std::vector<std::string> names;
  for (const OldSize& size : old.sizes) names.emplace_back(size.was);
  std::string sizes;
  for (const NamedValues& given : parse_sizes(text, names, option)) {
    for (const OldSize& size : old.sizes) {
      if (std::ranges::find(kept, size.is) == kept.end()) continue;  // now a free size
      sizes += format("{}{}={}", sizes.empty() ? "" : ",", size.is,
                      find_value(given, size.was)->integer());
    }
  }
  return sizes;
}

}  // namespace

std::vector<std::string> words_by_new_name(const Verb& verb, std::vector<std::string> words,
                                           std::ostream& notes) {
  const Arguments given(verb, words);
  const bool is_first = verb.name == "check" && !given.positional().empty();
  const std::string name = is_first ? given.positional()[0] : given.find("target").value_or("");
  const OldName* const old = old_name(name);
  const std::string here = name + ".target.toml";
  if (!old && manifest_called(name) != here) return words;
  const std::string meant = old ? std::string(old->now) : here;
  if (is_first) std::ranges::replace(words, name, meant);
  std::string now = format("--target {}", meant);
  const auto replace = [&](const std::string& option, const std::string& value) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].starts_with(option + "=")) words[i] = option + "=" + value;
      if (words[i] == option && i + 1 < words.size()) words[i + 1] = value;
    }
  };
  replace("--target", meant);
  if (!old) return words;
  for (const std::string option : {"size", "sizes"}) {
    if (!given.has(option)) continue;
    const std::string sizes = new_sizes(*old, given.text(option), "--" + option);
    replace("--" + option, sizes);
    now += format(" --{} {}", option, sizes);
  }
  const bool takes_settings =
      std::ranges::find(verb.options, "set", &Option::name) != verb.options.end() &&
      !given.has("workload");
  for (const NamedValue& each : parse_named_values(takes_settings ? old->settings : "")) {
    const auto says_it = [&](const std::string& set) { return set.starts_with(each.name + "="); };
    if (std::ranges::any_of(given.all("set"), says_it)) continue;
    const std::string setting = each.name + "=" + each.value.text();
    words.insert(words.end(), {"--set", setting});
    now += " --set " + setting;
  }
  notes << format(
      "note: {} is now part of {}: {}; autotune db convert renames what is stored under the old "
      "name\n",
      old->name, old->now, now);
  return words;
}

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
  } catch (const NoConfiguration& error) {
    return report(error.what(), kNoCorrectConfiguration);
  } catch (const std::bad_alloc&) {
    return report("out of memory; try a smaller problem or space", kFailed);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(format("{}: {}", error.path1().string(), error.code().message()), kFailed);
  } catch (const std::exception& error) {
    return report(error.what(), kFailed);
  }
}

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
