// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/capture_tails.hpp"

#include <cuda.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "tuner/gpu/driver_function.hpp"

namespace autotune {

namespace {

/// A node of a capture. The driver never uses the number of a capture again, and a capture keeps
/// its nodes, so no two kernels share both.
struct Tail {
  cuuint64_t capture = 0;  // 0: none
  CUgraphNode node = nullptr;
  friend bool operator==(const Tail&, const Tail&) = default;
};

struct Point {
  bool captured = false;
  Tail tail;  // what the next node will depend on, if that is one node
};

/// The function of CUDA 12.0. Fails if the next edge has attributes.
using GetCaptureInfo = CUresult(CUDAAPI*)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*,
                                          const CUgraphNode**, std::size_t*);

Point point_on(cudaStream_t stream) {
  static const auto ask =
      reinterpret_cast<GetCaptureInfo>(driver_function("cuStreamGetCaptureInfo"));
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  if (ask == nullptr || ask(stream, &status, &capture, nullptr, &nodes, &count) != CUDA_SUCCESS ||
      status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    return {};
  }
  if (count != 1) return {true, {}};
  return {true, {capture, nodes[0]}};
}

/// A ring of the latest.
class Tails {
 public:
  bool has(const Tail& tail) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(ring_, tail) != ring_.end();
  }
  void add(const Tail& tail) {
    const std::lock_guard lock(mutex_);
    ring_[next_] = tail;
    next_ = (next_ + 1) % ring_.size();
  }

 private:
  std::mutex mutex_;
  std::array<Tail, 256> ring_{};
  std::size_t next_ = 0;
};

Tails& tails() {
  static Tails all;
  return all;
}

}  // namespace

Ahead ahead_on(cudaStream_t stream) {
  const Point point = point_on(stream);
  if (!point.captured) return Ahead::plain_stream;
  return point.tail.node != nullptr && tails().has(point.tail) ? Ahead::early_kernel : Ahead::other;
}

void note_tail(cudaStream_t stream) {
  const Point point = point_on(stream);
  if (point.tail.node != nullptr) tails().add(point.tail);
}

}  // namespace autotune
