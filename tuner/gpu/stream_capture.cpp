// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/stream_capture.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tuner/gpu/cuda_handles.hpp"

namespace autotune {

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

}  // namespace autotune
