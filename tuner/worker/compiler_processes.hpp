// SPDX-License-Identifier: Apache-2.0
// Compilers in separate processes: one that hangs or crashes costs its source only.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"

namespace autotune {

class CompilerProcess;

/// One process per compile thread, kept for further sources, because NVRTC starts slowly. If a
/// compilation takes too long (ptxas included), its Build is `late`. If the compiler crashes, the
/// log says so. Neither Build is stored. A failure of the machine is tried again in another
/// process, then throws NotCompiled. Five such failures in a row throw Error.
class CompilerProcesses final : public CompilerRunner {
 public:
  /// Throws Error if there is no program `autotune-worker`.
  explicit CompilerProcesses(double limit_seconds);
  ~CompilerProcesses() override;

  Build run(const CompileTask& task) override;
  void stop() override;

  /// While one lives, running compilers are stopped, and so are their deadlines.
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
  std::atomic<int> failures_ = 0;  // of the machine, consecutive
  std::mutex mutex_;               // for everything below
  std::vector<std::unique_ptr<CompilerProcess>> idle_;
  std::set<CompilerProcess*> busy_;
  bool stopped_ = false;
  int pauses_ = 0;
  double halted_since_ = 0, halted_before_ = 0;
};

}  // namespace autotune
