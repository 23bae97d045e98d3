// SPDX-License-Identifier: Apache-2.0
// Runs a C++ compiler as a program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/host/process.hpp"

namespace autotune {

using RunProgram = std::function<ProcessResult(const std::vector<std::string>& argv)>;

/// Compiles a task to a shared object and lists the project's files that the compiler read. See
/// CompilerRunner::run().
Build compile_program(const CompileTask& task, const RunProgram& run);

/// Starts compilers from this process and kills each at its limit.
std::shared_ptr<CompilerRunner> programs_of_this_process(double limit_seconds);

}  // namespace autotune
