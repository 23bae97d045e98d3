// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "tuner/core/error.hpp"
#include "tuner/text/figures.hpp"
#include "tuner/text/format.hpp"
#include "tuner/text/strings.hpp"
#include "tuner/worker/wire.hpp"

namespace autotune {

namespace fs = std::filesystem;

namespace {

constexpr const char* kProgram = "autotune-worker";

/// What a worker prints beyond this is lost.
constexpr rlim_t kMostPrinted = rlim_t{16} << 20;
/// A GPU's driver may take some seconds to end a process.
constexpr int kMostEndMilliseconds = 30'000;

/// As large as this process may make a file, in whole pages.
off_t most_printed() {
  rlimit allowed{};
  const bool is_limited = getrlimit(RLIMIT_FSIZE, &allowed) == 0;
  const auto page = static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
  const rlim_t most = is_limited ? std::min(kMostPrinted, allowed.rlim_cur) : kMostPrinted;
  return static_cast<off_t>(most / page * page);
}

/// A file in memory that cannot grow: writes beyond its end fail. Unlike a pipe, it never blocks
/// the writer.
int output_file() {
  const int file = memfd_create("worker-output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file >= 0 && ftruncate(file, most_printed()) == 0 &&
      fcntl(file, F_ADD_SEALS, F_SEAL_GROW) == 0) {
    return file;
  }
  const int why = errno;
  close(file);
  throw Error(format("no file for a worker's output: {}", std::strerror(why)));
}

/// Whether the child ends within the time. Does not reap it.
bool ends_within(int milliseconds, pid_t child) {
  for (int i = 0; i < milliseconds; ++i) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child) {
      return true;
    }
    usleep(1000);
  }
  return false;
}

/// Where the running program is, and ../libexec/autotune from there.
std::array<fs::path, 2> folders_of_ours() {
  std::error_code failed;
  const fs::path folder = fs::read_symlink("/proc/self/exe", failed).parent_path();
  return {folder, folder.parent_path() / "libexec/autotune"};
}

bool lacks_memory(const std::string& line) {
  return line.find("out of memory") != std::string::npos ||
         line.find("bad_alloc") != std::string::npos;
}

}  // namespace

bool WorkerEnd::is_fault() const {
  const bool is_fault_signal = std::ranges::find(kFaultSignals, signal) != kFaultSignals.end();
  return is_fault_signal && !lacks_memory(text);
}

fs::path find_program_of_ours(const std::string& name) {
  for (const fs::path& folder : folders_of_ours()) {
    if (access((folder / name).c_str(), X_OK) == 0) return folder / name;
  }
  return {};
}

fs::path find_worker_program() {
  if (const char* chosen = std::getenv("AUTOTUNE_WORKER"); chosen != nullptr && *chosen != '\0') {
    if (access(chosen, X_OK) == 0) return chosen;
    throw Error(format("AUTOTUNE_WORKER: {} cannot be run: {}", chosen, std::strerror(errno)));
  }
  if (fs::path found = find_program_of_ours(kProgram); !found.empty()) return found;
  const auto [here, there] = folders_of_ours();
  throw Error(
      format("{} is neither in {} nor in {} (install autotune as a whole, or set "
             "AUTOTUNE_WORKER)",
             kProgram, here.string(), there.string()));
}

Json worker_greeting() { return {{"worker", worker_version()}}; }

/// A pair of sockets. The parent's end closes on exec. The other end is closed here once the child
/// has it.
struct WorkerProcess::Sockets {
  int parent = -1, child = -1;

  Sockets() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Error(format("no socket for a worker: {}", std::strerror(errno)));
    }
    parent = ends[0];
    child = ends[1];
    // dup2() onto the same number would keep close-on-exec set.
    if (child == kWorkerSocket) {
      child = fcntl(ends[1], F_DUPFD_CLOEXEC, kWorkerSocket + 1);
      close(ends[1]);
    }
  }
};

WorkerProcess::WorkerProcess(const std::vector<std::string>& argv)
    : WorkerProcess(argv, Sockets()) {}

WorkerProcess::WorkerProcess(const std::vector<std::string>& argv, Sockets sockets)
    : program_(argv.front()), output_(output_file()), channel_(sockets.parent) {
  try {
    pid_ = start_process(argv, {output_, output_}, {{sockets.child, kWorkerSocket}});
  } catch (...) {
    close(sockets.child);
    close(output_);
    throw;
  }
  close(sockets.child);
}

WorkerProcess::~WorkerProcess() {
  end();
  close(output_);
}

std::optional<Message> WorkerProcess::ask(const Json& request, std::string_view bytes,
                                          double limit_seconds, const Extension& more) {
  const Silence sent = channel_.send(request, bytes, limit_seconds);
  if (!greeted_) {  // even if sending failed: a wrong build explains more
    const std::optional<Message> greeting = channel_.receive(limit_seconds);
    if (!greeting) return std::nullopt;
    check_version(greeting->header);
    greeted_ = true;
  }
  return sent == Silence::none ? channel_.receive(limit_seconds, more) : std::nullopt;
}

void WorkerProcess::check_version(const Json& greeting) {
  const auto said = greeting.find("worker");
  const std::string version = said != greeting.end() && said->is_string() ? said->get<std::string>()
                                                                          : "one without version";
  if (version == worker_version()) return;
  end();
  throw Error(
      format("{}: is the worker of another build of autotune: {}, this one needs {} (build or "
             "install both anew; AUTOTUNE_WORKER names the worker to use)",
             program_, version, worker_version()));
}

std::string WorkerProcess::last_line() const {
  char tail[2048];
  const off_t size = lseek(output_, 0, SEEK_CUR);  // the worker writes here
  struct stat file {};
  if (fstat(output_, &file) == 0 && size >= file.st_size) {
    return format("it printed more than {}", bytes_text(file.st_size));
  }
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(sizeof tail));
  const ssize_t got = pread(output_, tail, static_cast<std::size_t>(size - from), from);
  const std::string_view text =
      trimmed({tail, static_cast<std::size_t>(std::max<ssize_t>(got, 0))});
  return std::string(text.substr(text.rfind('\n') + 1));
}

WorkerEnd WorkerProcess::end() {
  if (pid_ == 0) return {};
  // If it is dying already, its own signal says more than ours.
  pollfd closed{channel_.socket(), 0, 0};
  if (poll(&closed, 1, 0) > 0) ends_within(100, pid_);
  kill(pid_, SIGTERM);
  kill(-pid_, SIGCONT);
  ends_within(kMostEndMilliseconds, pid_);
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  WorkerEnd end;
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.text = end.signal != 0 ? format("signal {} ({})", end.signal, strsignal(end.signal))
                             : format("exit status {}", WEXITSTATUS(status));
  if (!greeted_) end.text += format(" ({} reported no version)", program_);
  const std::string line = last_line();
  if (!line.empty()) end.text += ": " + line;
  return end;
}

ProcessText run_kept(const std::vector<std::string>& argv, double limit_seconds,
                     std::size_t most_bytes) {
  WorkerProcess process({find_worker_program().string(), "--run", format("{}", most_bytes)});
  std::optional<Message> answer = process.ask({{"argv", argv}}, {}, limit_seconds);
  if (!answer && process.silence() == Silence::timeout) return {{true, 0, {}}, {}, false};
  if (!answer) throw Error(format("{}: its process ended by {}", argv[0], process.end().text));
  return read_message(answer->header, [&](const Json& header) -> ProcessText {
    if (const auto error = header.find("error"); error != header.end()) {
      throw Error(error->get<std::string>());
    }
    return {{false, field(header, "status"), field(header, "output")},
            std::move(answer->bytes),
            field(header, "is_too_long")};
  });
}

void serve_program(Channel& channel, std::size_t most_bytes) {
  while (const auto request = channel.receive(-1)) {
    Message answer;
    try {
      ProcessText result = text_of_process(request->header.at("argv"), most_bytes);
      answer.header = {{"status", result.status},
                       {"output", std::move(result.output)},
                       {"is_too_long", result.is_too_long}};
      answer.bytes = std::move(result.text);
    } catch (const Error& error) {
      answer.header = {{"error", error.what()}};
    }
    if (channel.send(answer.header, answer.bytes, -1) != Silence::none) return;
  }
}

namespace {

/// Processes that are killed are looked for so often, 20 ms apart. A GPU's driver may take some
/// seconds to end one.
constexpr int kMostRounds = 1000;
constexpr int kRoundMilliseconds = 20;

/// Orphans of the worker's become children of this process.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", failed)) {
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(") ");  // a name may have any character
    int parent = 0;
    if (name_end == std::string::npos) continue;
    if (std::sscanf(text.c_str() + name_end, ") %*c %d", &parent) != 1) continue;
    if (parent == getpid()) found.push_back(std::atoi(text.c_str()));
  }
  return found;
}

/// A descriptor from which SIGCHLD and SIGTERM are read.
int signals_of_interest() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  sigaddset(&signals, SIGTERM);
  return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Memory of a process and its descendants that no file backs.
std::int64_t bytes_of(pid_t process) {
  std::int64_t bytes = 0;
  std::ifstream status(format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    const bool counts = line.starts_with("RssAnon:") || line.starts_with("RssShmem:");
    if (counts) bytes += std::atoll(line.c_str() + line.find(':') + 1) * 1024;
  }
  std::error_code failed;
  for (const fs::directory_entry& thread :
       fs::directory_iterator(format("/proc/{}/task", process), failed)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) bytes += bytes_of(child);
  }
  return bytes;
}

class Keeper {
 public:
  /// `signals`: see signals_of_interest().
  Keeper(pid_t worker, int signals, std::int64_t most_bytes)
      : worker_(worker), signals_(signals), most_bytes_(most_bytes) {}

  /// Returns the wait status of the worker when nothing of it is left; kAskedToEnd if this process
  /// killed it.
  int wait_and_end() {
    while (!has_ended_ && wait() && takes_little()) reap();
    const bool kills = !has_ended_;
    if (kills) kill(worker_, SIGKILL);
    for (int i = 0; i < kMostRounds && !reap(); ++i) {
      for (const pid_t child : children()) kill(child, SIGKILL);
      wait_for_children();
    }
    return kills ? kAskedToEnd : status_;
  }

 private:
  /// An exit status: to the parent, a signal means that somebody else killed the worker.
  static constexpr int kAskedToEnd = W_EXITCODE(1, 0);

  void wait_for_children() {
    pollfd event{signals_, POLLIN, 0};
    poll(&event, 1, kRoundMilliseconds);
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
    }
  }

  /// Waits for the end of a child, or until memory is to be looked at. Returns false if the worker
  /// is to end.
  bool wait() {
    constexpr int kLookEachMilliseconds = 100;
    pollfd events[] = {{signals_, POLLIN, 0}, {kWorkerSocket, POLLRDHUP, 0}};
    poll(events, 2, most_bytes_ > 0 ? kLookEachMilliseconds : -1);
    bool asked_to_end = events[1].revents != 0;
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) asked_to_end = true;
    }
    return !asked_to_end;
  }

  /// Says so if it does not.
  bool takes_little() const {
    if (most_bytes_ == 0 || bytes_of(worker_) <= most_bytes_) return true;
    std::fprintf(stderr, "it takes more than %s of memory\n", bytes_text(most_bytes_).c_str());
    return false;
  }

  /// Takes the children that have ended. Returns whether none is left.
  bool reap() {
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
      if (ended != worker_) continue;
      has_ended_ = true;
      status_ = status;
    }
    return ended < 0 && errno == ECHILD;
  }

  const pid_t worker_;
  const int signals_;
  const std::int64_t most_bytes_;
  bool has_ended_ = false;
  int status_ = SIGKILL;
};

[[noreturn]] void end_with(int status) {
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);  // the worker has left its own
  const int number = WTERMSIG(status);
  signal(number, SIG_DFL);
  sigset_t signals;
  sigfillset(&signals);
  raise(number);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  _exit(128 + number);
}

}  // namespace

void keep_worker(const fs::path& folder, std::int64_t most_bytes) {
  sigset_t signals, before;
  sigfillset(&signals);
  sigprocmask(SIG_SETMASK, &signals, &before);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t keeper = getpid();
  const int interest = signals_of_interest();
  const pid_t worker = interest < 0 ? -1 : fork();
  if (worker < 0) throw Error(format("no process for a worker: {}", std::strerror(errno)));
  if (worker == 0) {
    close(interest);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper) _exit(1);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    return;
  }
  const int status = Keeper(worker, interest, most_bytes).wait_and_end();
  std::error_code failed;
  if (!folder.empty()) fs::remove_all(folder, failed);
  end_with(status);
}

}  // namespace autotune
