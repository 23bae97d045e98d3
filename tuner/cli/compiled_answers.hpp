// SPDX-License-Identifier: Apache-2.0
// Compiles the answers of a database for a GPU, in parallel, for warm. `db export --embed` writes
// them as a C++ header, with their cubins and the code that launches them.
#pragma once

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/cli/answer_judge.hpp"
#include "tuner/core/device.hpp"

namespace autotune::cli {

/// A tuned answer with what a program needs to launch it.
struct CompiledAnswer {
  db::TunedEntry entry;
  std::shared_ptr<const CompiledKernel> kernel;  // null if it failed
  LaunchPlan plan;
  std::vector<BufferSpec> buffers;  // that the program passes
  std::vector<Scalar> scalars;
  std::string failure;  // why it cannot be used on this GPU
};

/// What programs on this GPU compile for the problems of these entries, each once. Free sizes may
/// follow the key in an entry's problem. Entries of unknown targets stay as they are.
std::vector<db::TunedEntry> given_on(DeviceInfo gpu, const std::vector<db::TunedEntry>& problems,
                                     ProgramAnswers& programs, AnswerJudge& judge);

/// Compiles on `threads` cores for the GPU `info`, which need not be here, through the cache of
/// compiled kernels. Compilers run in their own processes and are killed after `compile_seconds`.
/// The judge must know the target of each entry.
std::vector<CompiledAnswer> compile_answers(std::vector<db::TunedEntry> entries, AnswerJudge& judge,
                                            const DeviceInfo& info, int threads,
                                            double compile_seconds);

/// Removes answers that programs must not use, and reports them on stderr: those of other tuners,
/// and those whose target has changed or is not found. Throws Error if nothing is left.
void keep_current(std::vector<db::TunedEntry>& entries, AnswerJudge& judge,
                  const std::string& file);

/// Writes the header. The answers are of one target with the same settings, and compiled.
void write_embedded_header(std::ostream& out, std::span<const CompiledAnswer> answers);

}  // namespace autotune::cli
