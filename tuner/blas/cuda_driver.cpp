// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/cuda_driver.hpp"

#include <dlfcn.h>

#include <array>

namespace autotune::blas {
namespace {

template <class Function>
Function* driver_function(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (!found) {
    if (void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) {
      found = dlsym(driver, name);
    }
  }
  return reinterpret_cast<Function*>(found);
}

void exchange_mode(int& mode) {
  static auto* const exchange = driver_function<int(int*)>("cuThreadExchangeStreamCaptureMode");
  if (exchange) exchange(&mode);
}

}  // namespace

int current_device() noexcept {
  static auto* const get_device = driver_function<int(int*)>("cuCtxGetDevice");
  int device = -1;
  return get_device && get_device(&device) == 0 ? device : -1;
}

std::uint64_t device_memory(int ordinal) noexcept {
  static auto* const get_total = driver_function<int(std::size_t*, int)>("cuDeviceTotalMem_v2");
  std::size_t bytes = 0;
  return get_total && get_total(&bytes, ordinal) == 0 ? bytes : 0;
}

std::string device_name(int ordinal) {
  static auto* const get_name = driver_function<int(char*, int, int)>("cuDeviceGetName");
  std::array<char, 256> name{};
  const bool is_known = get_name && get_name(name.data(), name.size() - 1, ordinal) == 0;
  return is_known ? name.data() : "";
}

bool may_be_captured(Stream stream) noexcept {
  static auto* const is_capturing = driver_function<int(Stream, int*)>("cuStreamIsCapturing");
  int status = 0;
  return !is_capturing || is_capturing(stream, &status) != 0 || status != 0;
}

std::optional<Place> place_of(Stream stream) noexcept {
  using GetInfo =
      int(Stream, int* status, std::uint64_t* id, void* graph, void* edges, void* count);
  static auto* const get_info = driver_function<GetInfo>("cuStreamGetCaptureInfo_v2");
  if (reinterpret_cast<std::uintptr_t>(stream) == 2) return std::nullopt;
  if (!may_be_captured(stream)) return Place{stream, 0};
  int status = 0;
  std::uint64_t id = 0;
  const bool is_known =
      get_info && get_info(stream, &status, &id, nullptr, nullptr, nullptr) == 0 && status == 1;
  return is_known ? std::optional(Place{stream, id}) : std::nullopt;
}

RelaxedThread::RelaxedThread() noexcept { exchange_mode(mode_); }
RelaxedThread::~RelaxedThread() { exchange_mode(mode_); }

}  // namespace autotune::blas
