// SPDX-License-Identifier: Apache-2.0
// Compilers in processes that can be killed: one that hangs or crashes costs its source only.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"

namespace autotune {

class CompilerProcess;

/// A process for each thread that compiles, kept for the next source since NVRTC is slow to start.
/// What takes too long, ptxas included, is a Build that is late, and what ends its compiler one
/// with a log that says so: neither is kept. What the machine is to blame for is tried again in
/// another process, then NotCompiled; five in a row are an Error.
class CompilerProcesses final : public CompilerRunner {
 public:
  /// Throws Error when there is no program `autotune-worker`.
  explicit CompilerProcesses(double limit_seconds);
  ~CompilerProcesses() override;

  Build run(const CompileTask& task) override;
  void stop() override;

  /// While one lives, no compiler uses a core: those that run are halted, and their time with them.
  class Pause {
   public:
    explicit Pause(CompilerProcesses& processes) : processes_(processes) { processes_.halt(); }
    ~Pause() { processes_.go_on(); }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    CompilerProcesses& processes_;
  };

 private:
  class Busy;
  Build run_once(const CompileTask& task);
  std::unique_ptr<CompilerProcess> take();
  void give_back(std::unique_ptr<CompilerProcess> process);
  bool is_stopped();
  void halt();
  void go_on();
  double halted_seconds();

  const double limit_seconds_;
  const std::string program_;
  std::mutex again_;
  std::atomic<int> failures_ = 0;  // of the machine, in a row
  std::mutex mutex_;               // of all below
  std::vector<std::unique_ptr<CompilerProcess>> idle_;
  std::set<CompilerProcess*> busy_;
  bool stopped_ = false;
  int pauses_ = 0;
  double halted_since_ = 0, halted_before_ = 0;
};

}  // namespace autotune
