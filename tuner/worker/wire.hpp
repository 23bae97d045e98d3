// SPDX-License-Identifier: Apache-2.0
// Messages between a worker and its parent, as JSON.
#pragma once

#include <string>

#include "tuner/cache/compiler_runner.hpp"
#include "tuner/core/counters.hpp"
#include "tuner/core/device.hpp"
#include "tuner/worker/wire_value.hpp"

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

}  // namespace autotune
