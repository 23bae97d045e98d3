// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/call_timer.hpp"

#include <cuda_runtime_api.h>

#include <new>

#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/gpu/stream_capture.hpp"

namespace autotune {
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
