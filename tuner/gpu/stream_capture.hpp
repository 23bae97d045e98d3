// SPDX-License-Identifier: Apache-2.0
// Work during the capture of streams into CUDA graphs.
#pragma once

namespace autotune {

/// While it lives, this thread may load code, and allocate and free memory, although some stream is
/// being captured (cuThreadExchangeStreamCaptureMode). In the default mode, such a call fails and
/// breaks the capture.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  [[maybe_unused]] int before_;  // a CUstreamCaptureMode; not in a build without CUDA
};

/// Whether `stream` (a cudaStream_t) is being captured. NULL is that of the thread's GPU.
bool is_captured(void* stream);

/// Whether the capture of `stream` (a cudaStream_t) is broken.
bool is_capture_broken(void* stream);

}  // namespace autotune
