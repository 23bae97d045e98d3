// SPDX-License-Identifier: Apache-2.0
// Defines the functions of nvrtc.h that are used here. Each calls NVRTC's own.
#include "tuner/gpu/toolkit.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <atomic>
#include <cstddef>

#include "tuner/core/error.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

/// Where the loader finds it, else in the toolkit of the build.
void* loaded_nvrtc() {
  const std::string name = format("libnvrtc.so.{}", CUDA_VERSION / 1000);
  for (const std::string& path : {name, AUTOTUNE_NVRTC_FOLDER "/" + name}) {
    if (void* const found = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return nullptr;
}

/// Loaded with this binary where it is installed, so that NVRTC's static objects outlive ours.
std::atomic<void*> nvrtc_handle = loaded_nvrtc();

template <class Result, class... Parameters, class... Values>
Result call_nvrtc(Result (*)(Parameters...), const char* name, Values... values) {
  if (void* const function = nvrtc_function(name)) {
    return reinterpret_cast<Result (*)(Parameters...)>(function)(values...);
  }
  throw Error(
      format("NVRTC cannot be used: {} (install CUDA's toolkit, or its package cuda-nvrtc, "
             "and set LD_LIBRARY_PATH to its folder; or use --device host)",
             dlerror()));
}

}  // namespace

void* nvrtc_function(const char* name) {
  // Others may have loaded it meanwhile, such as the Python package.
  if (nvrtc_handle == nullptr) nvrtc_handle = loaded_nvrtc();
  return nvrtc_handle == nullptr ? nullptr : dlsym(nvrtc_handle, name);
}

}  // namespace autotune

using autotune::call_nvrtc;

#define NVRTC_FUNCTION(Result, name, parameters, ...) \
  Result name parameters { return call_nvrtc(&name, #name, __VA_ARGS__); }

NVRTC_FUNCTION(nvrtcResult, nvrtcVersion, (int* major, int* minor), major, minor)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetNumSupportedArchs, (int* count), count)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetSupportedArchs, (int* all), all)
NVRTC_FUNCTION(const char*, nvrtcGetErrorString, (nvrtcResult result), result)
NVRTC_FUNCTION(nvrtcResult, nvrtcCreateProgram,
               (nvrtcProgram * program, const char* source, const char* name, int headers,
                const char* const* texts, const char* const* names),
               program, source, name, headers, texts, names)
NVRTC_FUNCTION(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program), program)
NVRTC_FUNCTION(nvrtcResult, nvrtcCompileProgram,
               (nvrtcProgram program, int count, const char* const* options), program, count,
               options)
NVRTC_FUNCTION(nvrtcResult, nvrtcAddNameExpression, (nvrtcProgram program, const char* expression),
               program, expression)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetLoweredName,
               (nvrtcProgram program, const char* expression, const char** name), program,
               expression, name)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, std::size_t* size), program,
               size)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char* cubin), program, cubin)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram program, std::size_t* size), program,
               size)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetPTX, (nvrtcProgram program, char* ptx), program, ptx)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, std::size_t* size),
               program, size)
NVRTC_FUNCTION(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char* log), program, log)
NVRTC_FUNCTION(nvrtcResult, nvrtcSetFlowCallback,
               (nvrtcProgram program, int (*callback)(void*, void*), void* payload), program,
               callback, payload)
