// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/compiler_processes.hpp"

#include <signal.h>

#include <utility>

#include "tuner/core/deadline.hpp"
#include "tuner/core/error.hpp"
#include "tuner/host/process.hpp"
#include "tuner/text/format.hpp"
#include "tuner/worker/wire.hpp"
#include "tuner/worker/worker_process.hpp"

namespace autotune {

/// One process, with a folder for what compilers write.
class CompilerProcess {
 public:
  explicit CompilerProcess(const std::string& program)
      : process_({program, "--compile", scratch_.path().string()}) {}

  /// nullopt if the process can no longer be used.
  std::optional<Message> ask(const CompileTask& task, double limit_seconds, const Extension& more) {
    return process_.ask(to_wire(task), task.source, limit_seconds, more);
  }
  bool was_late() const { return process_.silence() == Silence::timeout; }
  WorkerEnd end() { return process_.end(); }
  /// Sends a signal to its process group.
  void signal(int number) const {
    if (process_.pid() > 0) kill(-process_.pid(), number);
  }

 private:
  const TemporaryFolder scratch_;
  WorkerProcess process_;
};

namespace {

constexpr int kMostFailures = 5;
constexpr const char* kRunEnds = "the run ends";

Build late_build(const CompileTask& task, double limit_seconds) {
  Build build;
  build.log = format("{}: error: compiling took more than {:.3g} s and was stopped\n", task.name,
                     limit_seconds);
  build.late = true;
  build.keep = false;
  return build;
}

Build crashed_build(const CompileTask& task, const WorkerEnd& end) {
  Build build;
  build.log = format("{}: error: the compiler crashed on it: {}\n", task.name, end.text);
  build.keep = false;
  return build;
}

Build answered(const CompileTask& task, Message&& message) try {
  return read_message(message.header, [&](const Json& header) {
    if (const auto why = header.find("not_compiled"); why != header.end()) {
      throw NotCompiled(why->get<std::string>());
    }
    if (const auto error = header.find("error"); error != header.end()) {
      throw Error(error->get<std::string>());
    }
    return build_of(header, std::move(message.bytes));
  });
} catch (const WireError& error) {
  throw NotCompiled(format("{}: {}", task.name, error.what()));
}

}  // namespace

CompilerProcesses::CompilerProcesses(double limit_seconds)
    : limit_seconds_(limit_seconds), program_(find_worker_program().string()) {
  remove_abandoned_folders();
}

CompilerProcesses::~CompilerProcesses() = default;

Build CompilerProcesses::run(const CompileTask& task) {
  try {
    return run_once(task);
  } catch (const NotCompiled&) {
    if (is_stopped()) throw;
  }
  // Retries run one at a time, so that memory and descriptors may suffice.
  const std::lock_guard one_at_a_time(again_);
  try {
    return run_once(task);
  } catch (const NotCompiled& failure) {
    if (is_stopped() || ++failures_ < kMostFailures) throw;
    throw Error(
        format("{} kernels in a row could not be compiled here; the last: {} (use fewer "
               "--jobs, or free memory)",
               kMostFailures, failure.what()));
  }
}

/// Lists a process as busy while this lives. Only busy processes are paused and stopped.
class CompilerProcesses::Busy {
 public:
  Busy(CompilerProcesses& all, CompilerProcess& process) : all_(all), process_(process) {
    const std::lock_guard lock(all_.mutex_);
    if (all_.stopped_) throw NotCompiled(kRunEnds);
    all_.busy_.insert(&process_);
    if (all_.pauses_ > 0) process_.signal(SIGSTOP);
  }
  ~Busy() {
    const std::lock_guard lock(all_.mutex_);
    all_.busy_.erase(&process_);
    process_.signal(SIGCONT);
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  CompilerProcesses& all_;
  CompilerProcess& process_;
};

Build CompilerProcesses::run_once(const CompileTask& task) {
  if (is_stopped()) throw NotCompiled(kRunEnds);
  std::unique_ptr<CompilerProcess> process = take();
  std::optional<Message> answer;
  {
    const Busy busy(*this, *process);
    const double before = halted_seconds();
    answer = process->ask(task, limit_seconds_, [&] { return halted_seconds() - before; });
  }
  if (is_stopped()) throw NotCompiled(kRunEnds);
  if (answer) {
    Build build = answered(task, *std::move(answer));
    give_back(std::move(process));
    failures_ = 0;
    return build;
  }
  if (process->was_late()) return late_build(task, limit_seconds_);
  const WorkerEnd end = process->end();
  if (end.is_fault()) return crashed_build(task, end);
  throw NotCompiled(format("{}: the compiler was ended by {}", task.name, end.text));
}

std::unique_ptr<CompilerProcess> CompilerProcesses::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<CompilerProcess> process = std::move(idle_.back());
      idle_.pop_back();
      return process;
    }
  }
  try {
    return std::make_unique<CompilerProcess>(program_);
  } catch (const Error& error) {  // no descriptors, no processes
    throw NotCompiled(error.what());
  }
}

void CompilerProcesses::give_back(std::unique_ptr<CompilerProcess> process) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(process));
}

void CompilerProcesses::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  for (CompilerProcess* const process : busy_) process->signal(SIGKILL);
}

bool CompilerProcesses::is_stopped() {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void CompilerProcesses::halt() {
  const std::lock_guard lock(mutex_);
  if (pauses_++ > 0) return;
  halted_since_ = steady_seconds();
  for (CompilerProcess* const process : busy_) process->signal(SIGSTOP);
}

void CompilerProcesses::go_on() {
  const std::lock_guard lock(mutex_);
  if (--pauses_ > 0) return;
  halted_before_ += steady_seconds() - halted_since_;
  for (CompilerProcess* const process : busy_) process->signal(SIGCONT);
}

double CompilerProcesses::halted_seconds() {
  const std::lock_guard lock(mutex_);
  return halted_before_ + (pauses_ > 0 ? steady_seconds() - halted_since_ : 0);
}

}  // namespace autotune
