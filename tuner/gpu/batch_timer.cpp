// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/batch_timer.hpp"

#include <algorithm>
#include <vector>

#include "tuner/gpu/cuda_check.hpp"

namespace autotune {

namespace {

constexpr int kMostUntimedCalls = 3;
constexpr std::size_t kStampBytes = 2 * kMostStamps * sizeof(Stamp);
/// Below this the steps of the global timer would show.
constexpr std::int64_t kShortestClockedNs = 20'000;

PinnedMemory pinned(std::size_t bytes) {
  void* address = nullptr;
  check_cuda(cudaMallocHost(&address, bytes), "pin memory");
  return PinnedMemory(address);
}

/// Ends a capture that a failing launch has left open.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check_cuda(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "make a graph");
  }
  ~Capture() {
    if (!open_) return;
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream_, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaGetLastError();
  }
  Graph finish() {
    cudaGraph_t graph = nullptr;
    open_ = false;
    check_kernel(cudaStreamEndCapture(stream_, &graph), "making a graph of the launches");
    return Graph(graph);
  }

 private:
  cudaStream_t stream_;
  bool open_ = true;
};

}  // namespace

BatchTimer::BatchTimer(const DeviceKernels& kernels, cudaStream_t stream)
    : kernels_(kernels),
      stream_(stream),
      begin_(make_event()),
      end_(make_event()),
      stamps_(kStampBytes),
      read_back_(pinned(kStampBytes)) {}

GraphExec BatchTimer::prepare(const Chain& chain) const {
  Capture capture(stream_);
  enqueue(chain, cudaEventRecordExternal);
  const Graph graph = capture.finish();
  cudaGraphExec_t exec = nullptr;
  check_kernel(cudaGraphInstantiate(&exec, graph.get(), 0), "making a graph of the launches");
  GraphExec owned(exec);
  replay(exec, chain.launches);
  return owned;
}

TimedBatch BatchTimer::replay(cudaGraphExec_t graph, int launches) const {
  check_kernel(cudaGraphLaunch(graph, stream_), "launching a graph");
  return result(launches);
}

TimedBatch BatchTimer::stream(const Chain& chain) const {
  enqueue(chain, cudaEventRecordDefault);
  return result(chain.launches);
}

void BatchTimer::enqueue(const Chain& chain, unsigned event_flags) const {
  // The untimed calls take the last sets of buffers, those used longest before the first.
  const int untimed = std::clamp(chain.launches / 8, 1, kMostUntimedCalls);
  auto* const stamps = stamps_.as<Stamp>();
  check_cuda(cudaMemsetAsync(stamps, 0, kStampBytes, stream_), "set memory");
  kernels_.stamp(stream_, stamps);
  for (int i = 0; i < untimed; ++i) {
    const int back = (untimed - i) % chain.copies;
    chain.enqueue(stream_, back == 0 ? 0 : chain.copies - back);
  }
  check_cuda(cudaEventRecordWithFlags(begin_.get(), stream_, event_flags), "record an event");
  for (int i = 0; i < chain.launches; ++i) chain.enqueue(stream_, i % chain.copies);
  check_cuda(cudaEventRecordWithFlags(end_.get(), stream_, event_flags), "record an event");
  kernels_.stamp(stream_, stamps + kMostStamps);
}

TimedBatch BatchTimer::result(int launches) const {
  check_kernel(cudaMemcpyAsync(read_back_.get(), stamps_.get(), kStampBytes, cudaMemcpyDeviceToHost,
                               stream_),
               "running a batch");
  check_kernel(cudaStreamSynchronize(stream_), "running a batch");
  float milliseconds = 0;
  check_kernel(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()), "running a batch");
  TimedBatch batch;
  batch.seconds = static_cast<double>(milliseconds) * 1e-3 / launches;
  batch.clock_hz = clock_hz();
  return batch;
}

/// The median over the multiprocessors that were stamped twice.
double BatchTimer::clock_hz() const {
  const auto* const before = static_cast<const Stamp*>(read_back_.get());
  std::vector<double> clocks;
  for (int i = 0; i < kMostStamps; ++i) {
    const Stamp& first = before[i];
    const Stamp& last = before[kMostStamps + i];
    const std::int64_t elapsed = last.nanoseconds - first.nanoseconds;
    if (first.nanoseconds == 0 || last.nanoseconds == 0 || elapsed < kShortestClockedNs) continue;
    clocks.push_back(static_cast<double>(last.clock - first.clock) / static_cast<double>(elapsed));
  }
  if (clocks.empty()) return 0;
  const auto middle = clocks.begin() + static_cast<std::ptrdiff_t>(clocks.size() / 2);
  std::nth_element(clocks.begin(), middle, clocks.end());
  return *middle * 1e9;
}

}  // namespace autotune
