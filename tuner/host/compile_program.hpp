// SPDX-License-Identifier: Apache-2.0
// Runs a C++ compiler as a program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/cache/build_cache.hpp"
#include "tuner/host/process.hpp"

namespace autotune {

/// Runs a program in a folder; in the current one if it is empty.
using RunProgram = std::function<ProcessResult(const std::vector<std::string>& argv,
                                               const std::filesystem::path& folder)>;

/// Compiles a task to a shared object and lists the project's files that the compiler read; or runs
/// a task with a folder, which builds a program. See CompilerRunner::run().
Build compile_program(const CompileTask& task, const RunProgram& run);

/// Starts compilers from this process and kills each at its limit.
std::shared_ptr<CompilerRunner> programs_of_this_process(double limit_seconds);

// Decides why a C++ compiler failed.

enum class Blame : std::uint8_t {
  source,   // the compiler reports an error in it
  crash,    // the compiler crashes
  machine,  // no memory, no descriptors, a compiler or linker that was killed
  disk,     // the disk is full or read-only
};

/// `status` is the exit status, or 128 + signal. `log` is in English. The machine is to blame,
/// unless the log names a place in the source, an undefined symbol or a duplicate one.
Blame blame(int status, const std::string& log);

}  // namespace autotune
