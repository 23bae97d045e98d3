// SPDX-License-Identifier: Apache-2.0
// Defines the functions of nvrtc.h that are used here. Each calls NVRTC's own.
#include "tuner/gpu/nvrtc_library.hpp"

#include <cuda.h>
#include <dlfcn.h>
#include <nvrtc.h>

#include <atomic>
#include <cstddef>
#include <string>

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

nvrtcResult nvrtcVersion(int* major, int* minor) {
  return call_nvrtc(&nvrtcVersion, "nvrtcVersion", major, minor);
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  return call_nvrtc(&nvrtcGetNumSupportedArchs, "nvrtcGetNumSupportedArchs", count);
}
nvrtcResult nvrtcGetSupportedArchs(int* all) {
  return call_nvrtc(&nvrtcGetSupportedArchs, "nvrtcGetSupportedArchs", all);
}
const char* nvrtcGetErrorString(nvrtcResult result) {
  return call_nvrtc(&nvrtcGetErrorString, "nvrtcGetErrorString", result);
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name,
                               int headers, const char* const* texts, const char* const* names) {
  return call_nvrtc(&nvrtcCreateProgram, "nvrtcCreateProgram", program, source, name, headers,
                    texts, names);
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return call_nvrtc(&nvrtcDestroyProgram, "nvrtcDestroyProgram", program);
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  return call_nvrtc(&nvrtcCompileProgram, "nvrtcCompileProgram", program, count, options);
}
nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression) {
  return call_nvrtc(&nvrtcAddNameExpression, "nvrtcAddNameExpression", program, expression);
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name) {
  return call_nvrtc(&nvrtcGetLoweredName, "nvrtcGetLoweredName", program, expression, name);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, std::size_t* size) {
  return call_nvrtc(&nvrtcGetCUBINSize, "nvrtcGetCUBINSize", program, size);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) {
  return call_nvrtc(&nvrtcGetCUBIN, "nvrtcGetCUBIN", program, cubin);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, std::size_t* size) {
  return call_nvrtc(&nvrtcGetPTXSize, "nvrtcGetPTXSize", program, size);
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  return call_nvrtc(&nvrtcGetPTX, "nvrtcGetPTX", program, ptx);
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, std::size_t* size) {
  return call_nvrtc(&nvrtcGetProgramLogSize, "nvrtcGetProgramLogSize", program, size);
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  return call_nvrtc(&nvrtcGetProgramLog, "nvrtcGetProgramLog", program, log);
}
nvrtcResult nvrtcSetFlowCallback(nvrtcProgram program, int (*callback)(void*, void*),
                                 void* payload) {
  return call_nvrtc(&nvrtcSetFlowCallback, "nvrtcSetFlowCallback", program, callback, payload);
}
