// SPDX-License-Identifier: Apache-2.0
// CUPTI and the driver, loaded when counters are asked for.
#pragma once

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

namespace counters {

/// The functions in use, under their own names.
struct Cupti {
#define COUNTERS_CUPTI_FUNCTIONS(X)       \
  X(cuptiGetResultString)                 \
  X(cuptiDeviceGetChipName)               \
  X(cuptiProfilerInitialize)              \
  X(cuptiProfilerGetCounterAvailability)  \
  X(cuptiProfilerHostInitialize)          \
  X(cuptiProfilerHostDeinitialize)        \
  X(cuptiProfilerHostGetMetricProperties) \
  X(cuptiProfilerHostConfigAddMetrics)    \
  X(cuptiProfilerHostGetConfigImageSize)  \
  X(cuptiProfilerHostGetConfigImage)      \
  X(cuptiProfilerHostEvaluateToGpuValues) \
  X(cuptiRangeProfilerEnable)             \
  X(cuptiRangeProfilerDisable)            \
  X(cuptiRangeProfilerSetConfig)          \
  X(cuptiRangeProfilerStart)              \
  X(cuptiRangeProfilerStop)               \
  X(cuptiRangeProfilerPushRange)          \
  X(cuptiRangeProfilerPopRange)           \
  X(cuptiRangeProfilerDecodeData)         \
  X(cuptiRangeProfilerGetCounterDataSize) \
  X(cuptiRangeProfilerCounterDataImageInitialize)
#define COUNTERS_DECLARE(name) decltype(&::name) name = nullptr;
  COUNTERS_CUPTI_FUNCTIONS(COUNTERS_DECLARE)
#undef COUNTERS_DECLARE
};

/// Loaded once, from the loader's path, $CUDA_HOME or /usr/local/cuda. Throws std::runtime_error
/// with the loader's text.
const Cupti& cupti();

/// The driver's current context and its device. Throws std::runtime_error.
struct CurrentContext {
  CUcontext context = nullptr;
  CUdevice device = 0;
};
CurrentContext current_context();

/// Why a call of CUPTI failed, as a sentence for the user that names the call.
std::string reason_of(CUptiResult result, const std::string& call);

/// Throws std::runtime_error with reason_of(), unless the call succeeded.
void check(CUptiResult result, const char* call);

}  // namespace counters
