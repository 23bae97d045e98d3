// SPDX-License-Identifier: Apache-2.0
// What is exported of a database: answers as code, and the trials of one problem as recorded
// results.
#pragma once

#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "db/exchange.hpp"
#include "db/store.hpp"
#include "tuner/cli/answers.hpp"
#include "tuner/cli/arguments.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/launch.hpp"
#include "tuner/core/target.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/interchange/recorded_results.hpp"
#include "tuner/json/json.hpp"
#include "tuner/target/old_names.hpp"

namespace autotune::cli {

/// The current answers of --target (and --size, --device, --set) on GPUs, one for each problem and
/// GPU: that of the default policy, else the first. Says on stderr what is left out. Throws Error
/// if there are none.
std::vector<db::TunedEntry> exported_entries(const Arguments& arguments, Databases& databases,
                                             AnswerJudge& judge);

/// A target's name as a C++ identifier.
std::string identifier_of(std::string name);

/// The trials of the search or an import: the latest result of each configuration. Leaves out
/// configurations of an earlier manifest, which have other parameters than the latest one.
/// What failed under another policy has failed here, too.
RecordedResults stored_results(const db::TunedStore& store, const db::TunedEntry& entry);

/// The problems selected by --target, --size, --device, --set and --context, whatever their answers
/// are. Leaves out those without trials, if others have some: a search stores its trials under the
/// context that decides, and for other contexts only what its playoff decided there. Throws Error
/// if there are none.
std::vector<db::TunedEntry> searched_entries(const Arguments& arguments,
                                             const db::TunedStore& store);

/// The only one of searched_entries(). Throws Error that lists them if there are several.
db::TunedEntry single_entry(const Arguments& arguments, const db::TunedStore& store);

// Actions of autotune db in their own sources.

int run_export(const Arguments& arguments);
/// export --format cpp --embed: compiles the answers of --target and writes a header with them.
/// Throws UsageError if their settings differ, Error if there is no answer.
int run_export_embedded(const Arguments& arguments);
/// export --format source.
int run_export_source(const Arguments& arguments);
/// import and merge.
int run_import(const Arguments& arguments);
int run_convert_names(const Arguments& arguments);

// Stored facts of earlier targets, as today's manifests call them. Goes with target/old_names.hpp.

/// Concerned are targets with an old name, sources that are known to be the same, and targets that
/// have more sizes now, each with a default. A fact keeps its fingerprint unless its source is the
/// same: then it is of the target as it was, and evidence for near problems only.
class TodaysNames : public db::NewNames {
 public:
  /// `judge` must outlive it.
  explicit TodaysNames(AnswerJudge& judge) : judge_(judge) {}

  bool concern(const db::KernelRow& kernel) override;
  bool renew(db::KernelRow& kernel, std::string& problem, std::string& configuration) override;

 private:
  const OldName* old_of(const std::string& target);
  const Target* target_of(const std::string& name);
  const TargetProgram& program_of(const Target& target, const NamedValues& settings);

  AnswerJudge& judge_;
  std::map<std::string, const OldName*> old_;
  std::map<std::string, TargetProgram> programs_;  // with given sizes, by target and settings
};

// Compiles the answers of a database for a GPU, in parallel, for warm. `db export --embed` writes
// them as a C++ header, with their cubins and the code that launches them.

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

// A tuned answer as CUDA sources that do not depend on autotune: db export --format source.

// The files of tuner/cli/exported, which are in the program as text.

/// What all headers of `db export --embed` share: types, find(), and the class that loads and
/// launches a row. It needs C++17 and the CUDA driver API.
std::string_view embedded_text();
/// What all sources of `db export --format source` share: how a kernel is launched and, where one
/// takes tensor maps, how these are encoded.
std::string_view launching_text();
std::string_view tensor_map_text();
/// What the tests of these sources share: buffers, their contents, comparison.
std::string_view test_functions_text();

/// A string literal. C++ escapes the texts that are generated here like JSON.
inline std::string cpp_literal(const std::string& text) { return Json(text).dump(); }

/// An answer with everything that its sources need.
struct KernelExport {
  db::TunedEntry entry;
  std::string name;   // of files and of the namespace: `gemm`
  Workload workload;  // with the reference
  LaunchPlan plan;    // of the configuration; its checks stay
  std::vector<BufferSpec> buffers;
  std::vector<Scalar> scalars;
  SourceUnit unit;
};
KernelExport kernel_export(const db::TunedEntry& entry, const Target& target);

/// NAME.sh, of a target that is a program: builds the configuration, and says how it is run.
std::string program_script(const KernelExport& exported);

/// NAME.cu: the kernels and the code that launches them.
std::string kernel_file(const KernelExport& exported);
/// NAME.h: the declarations for a program.
std::string header_file(const KernelExport& exported);
/// NAME_test.cu: compares a call with the target's reference, and times it. Empty if the reference
/// is not a kernel.
std::string test_file(const KernelExport& exported);
/// The command that builds the test of these files.
std::string build_line(const KernelExport& exported);

// Used by these only.

/// Includes, macros and text of a unit, then #undef for the macros.
struct UnitCode {
  std::string text, undefines;
};
UnitCode code_of(const SourceUnit& unit);
/// `float* A, …, void* workspace, cudaStream_t stream`.
std::string parameters_of(const KernelExport& exported);

// The launches of a plan as CUDA C++: for db export --format source.

/// A plan whose launches become statements. These use `void* memory[]` (buffers, then workspace),
/// `cudaStream_t stream`, a variable for each scalar in `variables`, and with `has_absolute` the
/// variable `absolute`: whether real scalars lose their sign. They return a cudaError_t on failure.
struct PlanCode {
  const std::vector<BufferSpec>& buffers;
  const LaunchPlan& plan;
  const std::vector<Launch>& launches;  // of the plan: its own, or its checks
  std::vector<std::string> variables = {};
  bool has_absolute = false;
  /// The source that may define the plan's optional `__constant__` variables.
  const std::string& source;
};

/// Throws Error if a kernel takes a texture.
std::string statements(const PlanCode& code);

/// Functions that the statements call: start(), and encode() if a kernel takes a tensor map.
std::string launch_functions(const LaunchPlan& plan);

/// The name of a scalar as C++: `shift_w_2` for the field `shift.w[2]`.
std::string variable_name(const std::string& scalar);

/// The value of a scalar as C++: `2.5`, `7LL`, `__float2half(2.5)`.
std::string value_text(const Scalar& scalar);

/// The offset of each workspace in one block of memory, then the size of the block.
std::vector<std::int64_t> workspace_offsets(const LaunchPlan& plan);

}  // namespace autotune::cli
