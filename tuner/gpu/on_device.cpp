// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/on_device.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {
namespace {

/// The driver's functions: the runtime's would give a thread without a context that of GPU 0.
template <class Function>
Function* of_driver(const char* name) {
  return reinterpret_cast<Function*>(driver_function(name));
}

CUcontext current_context() {
  static auto* const get = of_driver<decltype(cuCtxGetCurrent)>("cuCtxGetCurrent");
  CUcontext context = nullptr;
  return get != nullptr && get(&context) == CUDA_SUCCESS ? context : nullptr;
}

bool is_current(int ordinal) {
  static auto* const get = of_driver<decltype(cuCtxGetDevice)>("cuCtxGetDevice");
  CUdevice device = -1;
  return get != nullptr && get(&device) == CUDA_SUCCESS && device == ordinal;
}

cudaError_t select(int ordinal) {
  return is_current(ordinal) ? cudaSuccess : cudaSetDevice(ordinal);
}

}  // namespace

OnDevice::OnDevice(int ordinal) : before_(current_context()) {
  check_cuda(select(ordinal), "use this GPU");
}

OnDevice::OnDevice(int ordinal, std::nothrow_t) noexcept : before_(current_context()) {
  if (select(ordinal) != cudaSuccess) cudaGetLastError();
}

OnDevice::~OnDevice() {
  static auto* const set = of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent");
  auto* const before = static_cast<CUcontext>(before_);
  if (set != nullptr && current_context() != before) set(before);
}

namespace {

cudaStreamCaptureStatus capture_status(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  if (error == cudaSuccess) return status;
  cudaGetLastError();  // the legacy stream while another is captured: itself not captured
  return cudaStreamCaptureStatusNone;
}

/// The driver's function: the runtime's would give a thread without a context that of GPU 0.
CUstreamCaptureMode exchanged(CUstreamCaptureMode mode) {
  static const auto exchange = reinterpret_cast<decltype(&cuThreadExchangeStreamCaptureMode)>(
      driver_function("cuThreadExchangeStreamCaptureMode"));
  if (exchange != nullptr) exchange(&mode);
  return mode;
}

}  // namespace

RelaxedCapture::RelaxedCapture() : before_(exchanged(CU_STREAM_CAPTURE_MODE_RELAXED)) {}

RelaxedCapture::~RelaxedCapture() { exchanged(static_cast<CUstreamCaptureMode>(before_)); }

bool is_captured(void* stream) { return capture_status(stream) != cudaStreamCaptureStatusNone; }

bool is_capture_broken(void* stream) {
  return capture_status(stream) == cudaStreamCaptureStatusInvalidated;
}

namespace {

/// Some functions break a capture of another thread unless this one is relaxed.
class EventTimer : public CallTimer {
 public:
  explicit EventTimer(int ordinal) : ordinal_(ordinal) {
    const OnDevice on_device(ordinal_);
    const RelaxedCapture relaxed;
    begin_ = make_event();
    end_ = make_event();
  }
  ~EventTimer() override {
    const OnDevice on_device(ordinal_, std::nothrow);
    const RelaxedCapture relaxed;
    begin_.reset();
    end_.reset();
  }

  bool may_time(void* stream) override {
    const OnDevice on_device(ordinal_);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
    if (error == cudaSuccess) return status == cudaStreamCaptureStatusNone;
    cudaGetLastError();  // the legacy stream while another one is captured
    return false;
  }

  void begin(void* stream) override { record(begin_, stream); }

  bool end(void* stream) override {
    record(end_, stream);
    return !has_passed(begin_);
  }

  std::optional<double> seconds() override {
    if (!has_passed(end_)) return std::nullopt;
    const OnDevice on_device(ordinal_);
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "time a call");
    return milliseconds * 1e-3;
  }

 private:
  void record(const Event& event, void* stream) const {
    const OnDevice on_device(ordinal_);
    const RelaxedCapture relaxed;
    check_cuda(cudaEventRecord(event.get(), static_cast<cudaStream_t>(stream)), "time a call");
  }

  bool has_passed(const Event& event) const {
    const OnDevice on_device(ordinal_);
    const RelaxedCapture relaxed;
    const cudaError_t error = cudaEventQuery(event.get());
    if (error == cudaErrorNotReady) {
      cudaGetLastError();
      return false;
    }
    check_cuda(error, "time a call");
    return true;
  }

  const int ordinal_;
  Event begin_, end_;
};

}  // namespace

std::unique_ptr<CallTimer> make_call_timer(int ordinal) {
  return std::make_unique<EventTimer>(ordinal);
}

}  // namespace autotune
