// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/runtime_library.hpp"

#include <dlfcn.h>

#include <string>

#include "tuner/blas/options.hpp"
#include "tuner/blas/warn_once.hpp"
#include "tuner/text/format.hpp"

namespace autotune::blas {
namespace {

std::string path_of_library() {
  if (!options().library.empty()) return options().library;
  Dl_info self{};
  const void* const here = reinterpret_cast<const void*>(&path_of_library);
  if (dladdr(here, &self) == 0 || !self.dli_fname) return "libautotune.so";
  const std::string own = self.dli_fname;
  return own.substr(0, own.rfind('/') + 1) + "libautotune.so";
}

/// False if a function is missing, as in an earlier version.
bool bind(void* library, RuntimeLibrary& runtime) {
  bool is_whole = true;
  const auto find = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    is_whole = is_whole && found;
  };
  find(runtime.message, "autotune_message");
  find(runtime.open, "autotune_open");
  find(runtime.close, "autotune_close");
  find(runtime.device, "autotune_device");
  find(runtime.warnings, "autotune_warnings");
  find(runtime.lookup, "autotune_lookup");
  find(runtime.is_faster, "autotune_is_faster");
  find(runtime.prepare, "autotune_prepare");
  find(runtime.release, "autotune_release");
  find(runtime.configuration, "autotune_kernel_configuration");
  find(runtime.buffers, "autotune_kernel_buffers");
  find(runtime.buffer, "autotune_kernel_buffer");
  find(runtime.scalars, "autotune_kernel_scalars");
  find(runtime.scalar, "autotune_kernel_scalar");
  find(runtime.workspace, "autotune_kernel_workspace");
  find(runtime.launch_with, "autotune_launch_with");
  const bool is_usable = is_whole;
  find(runtime.stop_compiling, "autotune_stop_compiling");
  find(runtime.earns, "autotune_kernel_earns");
  find(runtime.begin_call, "autotune_begin_call");
  find(runtime.end_call, "autotune_end_call");
  if (!runtime.begin_call || !runtime.end_call) runtime.earns = nullptr;
  return is_usable;
}

const RuntimeLibrary* load() {
  const std::string path = path_of_library();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    warn_once(Topic::library, format("{}: cuBLAS serves every call", dlerror()));
    return nullptr;
  }
  auto* const runtime = new RuntimeLibrary;  // used until the process ends
  if (bind(library, *runtime)) return runtime;
  warn_once(Topic::library, format("{}: is of another version: cuBLAS serves every call", path));
  return nullptr;
}

}  // namespace

const RuntimeLibrary* runtime_library() {
  static const RuntimeLibrary* const loaded = load();
  return loaded;
}

}  // namespace autotune::blas
