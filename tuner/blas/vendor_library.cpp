// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/vendor_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstring>
#include <string>

namespace autotune::blas {
namespace {

/// RTLD_NEXT does not find the cuBLAS of a program that loads it by dlopen, as Python does.
void* loaded_library(const char* prefix) {
  struct Search {
    const char* prefix;
    std::string path;
  } search{prefix, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        const char* const slash = std::strrchr(info->dlpi_name, '/');
        const char* const name = slash ? slash + 1 : info->dlpi_name;
        if (std::strncmp(name, wanted.prefix, std::strlen(wanted.prefix)) != 0) return 0;
        wanted.path = info->dlpi_name;
        return 1;
      },
      &search);
  return search.path.empty() ? nullptr : dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

void* installed_library(const std::string& prefix) {
  for (const char* version : {"13", "12", "11"}) {
    if (void* const found = dlopen((prefix + version).c_str(), RTLD_LAZY)) return found;
  }
  return nullptr;
}

}  // namespace

void* vendor_symbol(const char* name) noexcept try {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  const bool is_lt = std::strncmp(name, "cublasLt", 8) == 0;
  const char* const prefix = is_lt ? "libcublasLt.so." : "libcublas.so.";
  void* library = loaded_library(prefix);
  if (!library) library = installed_library(prefix);
  return library ? dlsym(library, name) : nullptr;
} catch (...) {
  return nullptr;
}

HandleState state_of(BlasHandle handle) noexcept {
  using GetMode = Status(BlasHandle, int*);
  static GetMode* const pointer_mode = vendor_function<GetMode>("cublasGetPointerMode_v2");
  static GetMode* const math_mode = vendor_function<GetMode>("cublasGetMathMode");
  HandleState state, unknown;
  if (!pointer_mode || pointer_mode(handle, &state.pointer_mode) != kSuccess) return unknown;
  if (!math_mode || math_mode(handle, &state.math_mode) != kSuccess) return unknown;
  return state;
}

bool stream_of(BlasHandle handle, Stream& stream) noexcept {
  using GetStream = Status(BlasHandle, Stream*);
  static GetStream* const get_stream = vendor_function<GetStream>("cublasGetStream_v2");
  return get_stream && get_stream(handle, &stream) == kSuccess;
}

}  // namespace autotune::blas
