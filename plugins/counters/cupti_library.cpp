// SPDX-License-Identifier: Apache-2.0
#include "plugins/counters/cupti_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace counters {
namespace {

constexpr const char* kFile = "libcupti.so." AUTOTUNE_CUPTI_MAJOR;

/// Empty: the loader's own search path.
std::vector<std::string> folders() {
  std::vector<std::string> all{""};
  std::vector<std::string> toolkits{"/usr/local/cuda"};
  if (const char* const home = std::getenv("CUDA_HOME")) toolkits.insert(toolkits.begin(), home);
  for (const std::string& toolkit : toolkits) {
    for (const char* const part : {"/extras/CUPTI/lib64/", "/lib64/", "/lib/"}) {
      all.push_back(toolkit + part);
    }
  }
  return all;
}

void* load() {
  std::string first_error;
  for (const std::string& folder : folders()) {
    // CUPTI loads these by name alone.
    for (const char* const part : {"libnvperf_host.so", "libnvperf_target.so"}) {
      if (!folder.empty()) dlopen((folder + part).c_str(), RTLD_NOW | RTLD_GLOBAL);
    }
    if (void* const library = dlopen((folder + kFile).c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return library;
    }
    if (first_error.empty()) first_error = dlerror();
  }
  throw std::runtime_error("CUPTI cannot be loaded: " + first_error +
                           "; install the toolkit's package cuda-cupti, or add its folder to "
                           "LD_LIBRARY_PATH");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(std::string(kFile) + " has no " + name +
                             ": CUDA 12.6 or later has the range profiler");
  }
}

Cupti loaded() {
  void* const library = load();
  Cupti all;
#define COUNTERS_FIND(name) find(library, #name, all.name);
  COUNTERS_CUPTI_FUNCTIONS(COUNTERS_FIND)
#undef COUNTERS_FIND
  return all;
}

}  // namespace

const Cupti& cupti() {
  static const Cupti all = loaded();
  return all;
}

CurrentContext current_context() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) throw std::runtime_error("there is no CUDA driver");
  decltype(&cuCtxGetCurrent) context_of = nullptr;
  decltype(&cuCtxGetDevice) device_of = nullptr;
  find(driver, "cuCtxGetCurrent", context_of);
  find(driver, "cuCtxGetDevice", device_of);
  CurrentContext current;
  const bool known = context_of(&current.context) == CUDA_SUCCESS && current.context != nullptr &&
                     device_of(&current.device) == CUDA_SUCCESS;
  if (!known) throw std::runtime_error("no CUDA context is current");
  return current;
}

std::string reason_of(CUptiResult result, const std::string& call) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "the driver allows hardware counters to administrators only: load the kernel module "
             "nvidia with NVreg_RestrictProfilingToAdminUsers=0, or run as root (in a container: "
             "with --cap-add=SYS_ADMIN)";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "the hypervisor does not allow hardware counters to this virtual GPU: enable "
             "profiling for it on the host";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "this virtual GPU has no hardware counters: use a GPU that is passed through";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "this MIG slice has no hardware counters: use the whole GPU";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "a GPU in confidential computing mode has no hardware counters";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "another process uses the hardware counters (ncu, nsys, DCGM): end it, or run "
             "dcgmi profile --pause";
    default:
      break;
  }
  const char* text = nullptr;
  cupti().cuptiGetResultString(result, &text);
  return call + "() failed: " + (text == nullptr ? std::to_string(result) : text);
}

void check(CUptiResult result, const char* call) {
  if (result != CUPTI_SUCCESS) throw std::runtime_error(reason_of(result, call));
}

}  // namespace counters
