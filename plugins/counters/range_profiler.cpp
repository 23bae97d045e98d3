// SPDX-License-Identifier: Apache-2.0
#include "plugins/counters/range_profiler.hpp"

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "plugins/counters/cupti_library.hpp"

namespace counters {
namespace {

constexpr std::size_t kMostPasses = 1000;
using Image = std::vector<std::uint8_t>;
using Names = std::vector<const char*>;

/// A parameter struct of CUPTI with only its size set.
template <class Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define COUNTERS_PARAMS(type) sized<type##_Params>(type##_Params_STRUCT_SIZE)
#define COUNTERS_CALL(function, params) check(cupti().function(&(params)), #function)

std::string chip_of(CUdevice device) {
  auto params = COUNTERS_PARAMS(CUpti_Device_GetChipName);
  params.deviceIndex = static_cast<std::size_t>(device);
  COUNTERS_CALL(cuptiDeviceGetChipName, params);
  return params.pChipName;
}

Image counters_available(CUcontext context) {
  auto params = COUNTERS_PARAMS(CUpti_Profiler_GetCounterAvailability);
  params.ctx = context;
  COUNTERS_CALL(cuptiProfilerGetCounterAvailability, params);
  Image image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  COUNTERS_CALL(cuptiProfilerGetCounterAvailability, params);
  return image;
}

/// CUPTI's description of a chip: its metrics, and how they follow from raw counters.
class Host {
 public:
  Host(std::string chip, Image available)
      : chip_(std::move(chip)), available_(std::move(available)) {
    auto params = COUNTERS_PARAMS(CUpti_Profiler_Host_Initialize);
    params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
    params.pChipName = chip_.c_str();
    params.pCounterAvailabilityImage = available_.data();
    COUNTERS_CALL(cuptiProfilerHostInitialize, params);
    object_ = params.pHostObject;
  }
  ~Host() {
    auto params = COUNTERS_PARAMS(CUpti_Profiler_Host_Deinitialize);
    params.pHostObject = object_;
    cupti().cuptiProfilerHostDeinitialize(&params);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  bool has(const std::string& metric) const {
    auto params = COUNTERS_PARAMS(CUpti_Profiler_Host_GetMetricProperties);
    params.pHostObject = object_;
    params.pMetricName = metric.c_str();
    return cupti().cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
  }

  /// The raw counters for these metrics.
  Image configuration(Names& metrics) const {
    auto add = COUNTERS_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics);
    add.pHostObject = object_;
    add.ppMetricNames = metrics.data();
    add.numMetrics = metrics.size();
    COUNTERS_CALL(cuptiProfilerHostConfigAddMetrics, add);
    auto size = COUNTERS_PARAMS(CUpti_Profiler_Host_GetConfigImageSize);
    size.pHostObject = object_;
    COUNTERS_CALL(cuptiProfilerHostGetConfigImageSize, size);
    Image image(size.configImageSize);
    auto get = COUNTERS_PARAMS(CUpti_Profiler_Host_GetConfigImage);
    get.pHostObject = object_;
    get.configImageSize = image.size();
    get.pConfigImage = image.data();
    COUNTERS_CALL(cuptiProfilerHostGetConfigImage, get);
    return image;
  }

  std::vector<double> values(const Image& counted, Names& metrics) const {
    std::vector<double> values(metrics.size());
    auto params = COUNTERS_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues);
    params.pHostObject = object_;
    params.pCounterDataImage = counted.data();
    params.counterDataImageSize = counted.size();
    params.ppMetricNames = metrics.data();
    params.numMetrics = metrics.size();
    params.pMetricValues = values.data();
    COUNTERS_CALL(cuptiProfilerHostEvaluateToGpuValues, params);
    return values;
  }

 private:
  // CUPTI keeps pointers to these.
  std::string chip_;
  Image available_;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

/// Profiles a context as long as it lives.
class Target {
 public:
  explicit Target(CUcontext context) {
    auto params = COUNTERS_PARAMS(CUpti_RangeProfiler_Enable);
    params.ctx = context;
    COUNTERS_CALL(cuptiRangeProfilerEnable, params);
    object_ = params.pRangeProfilerObject;
  }
  ~Target() {
    auto params = COUNTERS_PARAMS(CUpti_RangeProfiler_Disable);
    params.pRangeProfilerObject = object_;
    cupti().cuptiRangeProfilerDisable(&params);
  }
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;

  /// Repeats the call for each pass, then decodes the counters into the result.
  Image count(const Image& configuration, Names& metrics, const std::function<bool()>& call) const {
    Image counted = empty_image(metrics);
    configure(configuration, counted);
    bool is_last = false;
    for (std::size_t pass = 0; !is_last; ++pass) {
      if (pass == kMostPasses) throw std::runtime_error("CUPTI asks for ever more passes");
      is_last = run_pass(call);
    }
    auto params = COUNTERS_PARAMS(CUpti_RangeProfiler_DecodeData);
    params.pRangeProfilerObject = object_;
    COUNTERS_CALL(cuptiRangeProfilerDecodeData, params);
    return counted;
  }

 private:
  Image empty_image(Names& metrics) const {
    auto size = COUNTERS_PARAMS(CUpti_RangeProfiler_GetCounterDataSize);
    size.pRangeProfilerObject = object_;
    size.pMetricNames = metrics.data();
    size.numMetrics = metrics.size();
    size.maxNumOfRanges = 1;
    size.maxNumRangeTreeNodes = 1;
    COUNTERS_CALL(cuptiRangeProfilerGetCounterDataSize, size);
    Image image(size.counterDataSize);
    auto params = COUNTERS_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize);
    params.pRangeProfilerObject = object_;
    params.counterDataSize = image.size();
    params.pCounterData = image.data();
    COUNTERS_CALL(cuptiRangeProfilerCounterDataImageInitialize, params);
    return image;
  }

  void configure(const Image& configuration, Image& counted) const {
    auto params = COUNTERS_PARAMS(CUpti_RangeProfiler_SetConfig);
    params.pRangeProfilerObject = object_;
    params.configSize = configuration.size();
    params.pConfig = configuration.data();
    params.counterDataImageSize = counted.size();
    params.pCounterDataImage = counted.data();
    params.range = CUPTI_UserRange;  // a call may be several launches
    params.replayMode = CUPTI_UserReplay;
    params.maxRangesPerPass = 1;
    params.numNestingLevels = 1;
    params.minNestingLevel = 1;
    params.passIndex = 0;
    params.targetNestingLevel = 0;
    COUNTERS_CALL(cuptiRangeProfilerSetConfig, params);
  }

  /// Whether this pass was the last.
  bool run_pass(const std::function<bool()>& call) const {
    auto start = COUNTERS_PARAMS(CUpti_RangeProfiler_Start);
    start.pRangeProfilerObject = object_;
    COUNTERS_CALL(cuptiRangeProfilerStart, start);
    auto push = COUNTERS_PARAMS(CUpti_RangeProfiler_PushRange);
    push.pRangeProfilerObject = object_;
    push.pRangeName = "call";
    COUNTERS_CALL(cuptiRangeProfilerPushRange, push);
    const bool ran = call();
    auto pop = COUNTERS_PARAMS(CUpti_RangeProfiler_PopRange);
    pop.pRangeProfilerObject = object_;
    COUNTERS_CALL(cuptiRangeProfilerPopRange, pop);
    auto stop = COUNTERS_PARAMS(CUpti_RangeProfiler_Stop);
    stop.pRangeProfilerObject = object_;
    COUNTERS_CALL(cuptiRangeProfilerStop, stop);
    if (!ran) throw std::runtime_error("the call failed while it was counted");
    return stop.isAllPassSubmitted != 0;
  }

  CUpti_RangeProfiler_Object* object_ = nullptr;
};

void initialize() {
  auto params = COUNTERS_PARAMS(CUpti_Profiler_Initialize);
  COUNTERS_CALL(cuptiProfilerInitialize, params);
}

}  // namespace

std::map<std::string, double> measured(const std::vector<std::string>& metrics,
                                       const std::function<bool()>& call) {
  const CurrentContext current = current_context();
  initialize();
  const Host host(chip_of(current.device), counters_available(current.context));
  Names names;
  for (const std::string& metric : metrics) {
    if (host.has(metric)) names.push_back(metric.c_str());
  }
  const Image configuration = host.configuration(names);
  const Image counted = Target(current.context).count(configuration, names, call);
  const std::vector<double> values = host.values(counted, names);
  std::map<std::string, double> result;
  for (std::size_t i = 0; i < names.size(); ++i) result[names[i]] = values[i];
  return result;
}

}  // namespace counters
