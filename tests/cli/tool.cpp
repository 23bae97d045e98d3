// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/tool.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tuner/text/format.hpp"

namespace autotune::testing {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

const char* const kTool = AUTOTUNE_BINARY_DIR "/bin/autotune";

Words tool_with(const Words& arguments) { return Words(kTool) + arguments; }

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> all;
  for (const std::string& word : words) all.push_back(const_cast<char*>(word.c_str()));
  all.push_back(nullptr);
  return all;
}

void open_as(int descriptor, const fs::path& file, int flags) {
  const int opened = open(file.c_str(), flags, 0600);
  if (opened < 0 || dup2(opened, descriptor) < 0) _exit(126);
  close(opened);
}

/// A name that no other run has.
std::string fresh_name(const char* what) {
  static std::atomic<int> count{0};
  return std::string(what) + std::to_string(getpid()) + "_" + std::to_string(++count);
}

/// Without the warning that other programs disturb times: tests run beside each other.
std::string but_for_company(const std::string& text) {
  std::string rest;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    const std::string line = text.substr(from, end - from);
    if (line.find("other programs are running on") == std::string::npos) rest += line;
    from = end;
  }
  return rest;
}

}  // namespace

Running::Running(const fs::path& folder, const Words& words,
                 const std::map<std::string, std::string>& environment, const Preparation& prepare)
    : out_(folder / fresh_name("stdout_")), err_(folder / fresh_name("stderr_")) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
  const std::vector<char*> argv = pointers(words), environ = pointers(variables);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("no new process");
  if (pid_ == 0) {
    open_as(0, "/dev/null", O_RDONLY);
    open_as(1, out_, O_WRONLY | O_CREAT);
    open_as(2, err_, O_WRONLY | O_CREAT);
    if (chdir(folder.c_str()) != 0) _exit(126);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_DFL);
    if (prepare) prepare();
    execve(argv[0], argv.data(), environ.data());
    _exit(127);
  }
}

Running::~Running() {
  if (!ended()) {
    signal(SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
}

void Running::note(int wait_status) {
  status_ = WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

bool Running::ended() {
  int status = 0;
  if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_) note(status);
  return status_.has_value();
}

void Running::signal(int number) const {
  if (!status_) kill(pid_, number);
}

Ended Running::wait(double limit_seconds) {
  const auto end = Clock::now() + std::chrono::duration<double>(limit_seconds);
  while (!ended()) {
    if (Clock::now() > end) signal(SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return {*status_, file_bytes(out_), but_for_company(file_bytes(err_))};
}

Words::Words(const std::string& text) {
  bool is_quoted = false, is_open = false;
  for (const char letter : text) {
    if (letter == '\'') is_quoted = !is_quoted;
    if (letter == ' ' && !is_quoted) {
      is_open = false;
      continue;
    }
    if (!std::exchange(is_open, true)) emplace_back();
    if (letter != '\'') back() += letter;
  }
  for (std::string& word : *this) {
    if (word.starts_with('@')) word = manifest_of(word.substr(1));
  }
}

Sandbox::Sandbox() {
  const std::string name = folder().string();
  const char* const path = std::getenv("PATH");
  environment_ = {{"PATH", path ? path : "/usr/bin:/bin"},
                  {"HOME", name},
                  {"XDG_DATA_HOME", name + "/data"},
                  {"XDG_CACHE_HOME", name + "/cache"},
                  {"AUTOTUNE_CACHE", AUTOTUNE_BINARY_DIR "/tests/cache"},
                  {"LC_ALL", "C"}};
  // Where NVRTC may be, and the GPUs of whoever runs tests side by side.
  for (const char* const variable : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* const value = std::getenv(variable)) environment_[variable] = value;
  }
}

Ended Sandbox::run(const Words& arguments, const Preparation& prepare) const {
  return Running(folder(), tool_with(arguments), environment_, prepare).wait();
}

std::string Sandbox::done(const Words& arguments, const Preparation& prepare) const {
  const Ended ended = run(arguments, prepare);
  if (ended.status == 0) return ended.out;
  throw std::runtime_error(arguments[0] + " ended with " + std::to_string(ended.status) + ": " +
                           ended.err);
}

Ended Sandbox::run_program(const Words& words) const {
  return Running(folder(), words, environment_, Preparation()).wait();
}

std::unique_ptr<Running> Sandbox::start(const Words& arguments) const {
  return std::make_unique<Running>(folder(), tool_with(arguments), environment_, Preparation());
}

std::string manifest_of(const std::string& name) {
  return std::string(AUTOTUNE_SOURCE_DIR "/tests/cli/") + name + ".target.toml";
}

Words tune(const std::string& target, const std::string& sizes, const Words& more) {
  return Words(format("tune --target @{} --sizes {} --device host", target, sizes)) + more;
}

std::vector<pid_t> processes_called(const std::string& name, std::optional<pid_t> parent) {
  std::vector<pid_t> found;
  const std::string shown = "(" + name.substr(0, 15) + ")";  // the kernel keeps 15 letters
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "stat");
    pid_t pid = 0, its_parent = 0;
    std::string its_name;
    char state = 0;
    if (!(file >> pid >> its_name >> state >> its_parent) || its_name != shown) continue;
    if ((!parent || its_parent == *parent) && state != 'Z') found.push_back(pid);
  }
  return found;
}

}  // namespace autotune::testing
