// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/serving_kernel.hpp"

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

enum class CaptureStatus : int { none, active, broken };  // CUstreamCaptureStatus

/// nullopt if the driver does not say, as of the legacy stream during another capture.
std::optional<CaptureStatus> capture_status(Stream stream) {
  static auto* const is_capturing = driver_function<int(Stream, int*)>("cuStreamIsCapturing");
  int status = 0;
  if (!is_capturing || is_capturing(stream, &status) != 0) return std::nullopt;
  return static_cast<CaptureStatus>(status);
}

struct Capture {
  std::uint64_t id = 0;
  void* graph = nullptr;
};

/// nullopt if the stream is not captured, or if the driver does not say.
std::optional<Capture> capture_of(Stream stream) {
  using GetInfo =
      int(Stream, int* status, std::uint64_t* id, void** graph, void* edges, void* count);
  static auto* const get_info = driver_function<GetInfo>("cuStreamGetCaptureInfo_v2");
  int status = 0;
  Capture capture;
  const bool is_known =
      get_info && get_info(stream, &status, &capture.id, &capture.graph, nullptr, nullptr) == 0 &&
      static_cast<CaptureStatus>(status) == CaptureStatus::active;
  return is_known ? std::optional(capture) : std::nullopt;
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
  return capture_status(stream).value_or(CaptureStatus::active) != CaptureStatus::none;
}

bool is_capture_broken(Stream stream) noexcept {
  return capture_status(stream).value_or(CaptureStatus::broken) == CaptureStatus::broken;
}

std::optional<Place> place_of(Stream stream) noexcept {
  if (reinterpret_cast<std::uintptr_t>(stream) == 2) return std::nullopt;
  if (!may_be_captured(stream)) return Place{stream, 0};
  const std::optional<Capture> capture = capture_of(stream);
  return capture ? std::optional(Place{stream, capture->id}) : std::nullopt;
}

bool note_end_of_graph(Stream stream, std::atomic<bool>& is_over) noexcept {
  using Create = int(void** object, void* argument, void (*at_end)(void*), unsigned, unsigned);
  using Retain = int(void* graph, void* object, unsigned count, unsigned flags);
  static auto* const create = driver_function<Create>("cuUserObjectCreate");
  static auto* const retain = driver_function<Retain>("cuGraphRetainUserObject");
  constexpr unsigned kNoSync = 1, kMove = 1;
  const auto at_end = [](void* argument) { *static_cast<std::atomic<bool>*>(argument) = true; };
  const std::optional<Capture> capture = capture_of(stream);
  void* object = nullptr;
  // An object that no graph takes is not released: that would set the flag.
  return create && retain && capture && create(&object, &is_over, at_end, 1, kNoSync) == 0 &&
         retain(capture->graph, object, 1, kMove) == 0;
}

RelaxedThread::RelaxedThread() noexcept { exchange_mode(mode_); }
RelaxedThread::~RelaxedThread() { exchange_mode(mode_); }

}  // namespace autotune::blas
