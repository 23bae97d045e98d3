// SPDX-License-Identifier: Apache-2.0
#include "plugins/blas/library.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

namespace blas {
namespace {

// libblas.so.3 is whichever library the system's administrator chose.
constexpr const char* kFiles[] = {"libopenblas.so.0", "libopenblas.so", "libblis.so.4",
                                  "libblis.so.3",     "libblis.so",     "libblas.so.3"};

template <class Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

/// BLIS counts threads in integers of 64 bits.
template <std::int64_t (**kFunction)()>
int narrowed() {
  return static_cast<int>((*kFunction)());
}
template <void (**kFunction)(std::int64_t)>
void widened(int count) {
  (*kFunction)(count);
}
std::int64_t (*blis_threads)() = nullptr;
void (*blis_set_threads)(std::int64_t) = nullptr;

/// nullopt if it is another library. Otherwise throws what it lacks.
std::optional<Library> library_in(void* file, const char* name) {
  const auto lacks = [&](const std::string& what) {
    throw std::runtime_error(std::string(name) + " " + what +
                             ": install OpenBLAS or BLIS with its C interface (CBLAS)");
  };
  Library library;
  if (auto* const configuration = function<const char*()>(file, "openblas_get_config")) {
    library.name = "OpenBLAS";
    if (std::strstr(configuration(), "USE64BITINT")) lacks("takes integers of 64 bits");
    library.threads = function<int()>(file, "openblas_get_num_threads");
    library.set_threads = function<void(int)>(file, "openblas_set_num_threads");
  } else if (function<const char*()>(file, "bli_info_get_version_str")) {
    library.name = "BLIS";
    auto* const bits = function<std::int64_t()>(file, "bli_info_get_blas_int_type_size");
    if (bits && bits() != 32) lacks("takes integers of 64 bits");
    blis_threads = function<std::int64_t()>(file, "bli_thread_get_num_threads");
    blis_set_threads = function<void(std::int64_t)>(file, "bli_thread_set_num_threads");
    if (blis_threads) library.threads = narrowed<&blis_threads>;
    if (blis_set_threads) library.set_threads = widened<&blis_set_threads>;
  } else {
    return std::nullopt;
  }
  library.sgemm = reinterpret_cast<Gemm<float>>(dlsym(file, "cblas_sgemm"));
  library.dgemm = reinterpret_cast<Gemm<double>>(dlsym(file, "cblas_dgemm"));
  if (!library.sgemm || !library.dgemm) lacks("has no cblas_sgemm and cblas_dgemm");
  if (!library.threads || !library.set_threads) lacks("does not tell its threads");
  return library;
}

std::optional<Library> find() {
  std::string reason;
  for (const char* const name : kFiles) {
    void* const file = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!file) continue;
    try {
      if (auto library = library_in(file, name)) return library;
    } catch (const std::runtime_error& error) {
      if (reason.empty()) reason = error.what();
    }
  }
  if (!reason.empty()) throw std::runtime_error(reason);
  return std::nullopt;
}

}  // namespace

const Library* found_library() {
  static const std::optional<Library> library = find();
  return library ? &*library : nullptr;
}

}  // namespace blas
