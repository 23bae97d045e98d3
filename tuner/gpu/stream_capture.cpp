// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/stream_capture.hpp"

#include <cuda_runtime_api.h>

namespace autotune {

namespace {

cudaStreamCaptureStatus capture_status(void* stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &status);
  if (error == cudaSuccess) return status;
  cudaGetLastError();  // the legacy stream while another is captured: itself not captured
  return cudaStreamCaptureStatusNone;
}

cudaStreamCaptureMode exchanged(cudaStreamCaptureMode mode) {
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  return mode;
}

}  // namespace

RelaxedCapture::RelaxedCapture() : before_(exchanged(cudaStreamCaptureModeRelaxed)) {}

RelaxedCapture::~RelaxedCapture() { exchanged(static_cast<cudaStreamCaptureMode>(before_)); }

bool is_captured(void* stream) { return capture_status(stream) != cudaStreamCaptureStatusNone; }

bool is_capture_broken(void* stream) {
  return capture_status(stream) == cudaStreamCaptureStatusInvalidated;
}

}  // namespace autotune
