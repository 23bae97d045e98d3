// SPDX-License-Identifier: Apache-2.0
// Messages between a worker and its parent, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/device.hpp"
#include "tuner/json/json.hpp"
#include "tuner/plugin/plugin_library.hpp"
#include "tuner/plugin/search_task.hpp"
#include "tuner/worker/wire_codec.hpp"

namespace autotune {

Json wire_of(const SourceUnit& unit);
SourceUnit source_unit_of(const Json& json);

Json wire_of(const LaunchPlan& plan);
LaunchPlan launch_plan_of(const Json& json);

Json wire_of(const Launch& launch);
Launch launch_of(const Json& json);

Json wire_of(const Workload& workload);
Workload workload_of(const Json& json);

/// Without the binary, which follows as raw bytes.
Json wire_of(const CompiledKernel& kernel);
CompiledKernel compiled_kernel_of(const Json& json, std::string binary);

Outcome outcome_of(const Json& json);

Json wire_of(const Verdict& verdict);
Verdict verdict_of(const Json& json);

Json wire_of(const UnseenCalls& calls);
UnseenCalls unseen_calls_of(const Json& json);
Json wire_of(const RowBits& bits);
RowBits row_bits_of(const Json& json);

Json wire_of(const TimedBatch& batch);
TimedBatch timed_batch_of(const Json& json);

Json wire_of(const Energy& energy);
Energy energy_of(const Json& json);

Json wire_of(const Counters& counters);
Counters counters_in(const Json& json);

/// An exception of the worker's device as an answer.
Json wire_of(const KernelFailure& failure);
/// Rethrows the exception or Error of an answer; returns if there is none.
void throw_failure_in(const Json& answer);

/// Without the source, which follows as raw bytes.
Json wire_of(const CompileTask& task);
CompileTask compile_task_of(const Json& json, std::string source);

/// Without the binary, which follows as raw bytes.
Json wire_of(const Build& build);
Build build_of(const Json& json, std::string binary);

// Messages between a plugin's process and its parent, as JSON.

Json wire_of(const PluginDescription& description);
PluginDescription plugin_description_of(const Json& json);

/// The levels and predictions follow the message as raw bytes.
Json wire_of(const SearchTask& task);
std::string bytes_of(const SearchTask& task);
SearchTask search_task_of(const Json& json, const std::string& bytes);

Json wire_of(const std::vector<Evaluation>& evaluations);
std::vector<Evaluation> evaluations_of(const Json& json);

/// The configurations that a plugin requests, below `size`; nullopt when its search has ended.
/// Throws Error.
std::optional<std::vector<std::size_t>> question_of(const Json& said, std::size_t size);

}  // namespace autotune
