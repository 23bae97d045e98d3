// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/batch_timer.hpp"

#include <algorithm>
#include <vector>

namespace autotune {
namespace {

constexpr int kMostUntimedCalls = 3;
constexpr int kMostAlone = 25;
constexpr std::int64_t kNeighbourFloats = (64 << 10) / sizeof(float);
/// Returned where noise makes a difference of two times zero or less.
constexpr double kLeastSeconds = 1e-9;
constexpr std::size_t kStampBytes = 2 * kMostStamps * sizeof(Stamp);
/// For shorter times, the resolution of the global timer matters.
constexpr std::int64_t kShortestClockedNs = 20'000;

int untimed_calls(const Chain& chain) {
  return std::clamp(chain.launches / 8, 1, kMostUntimedCalls);
}

PinnedMemory pinned(std::size_t bytes) {
  void* address = nullptr;
  check_cuda(cudaMallocHost(&address, bytes), "pin memory");
  return PinnedMemory(address);
}

/// Ends the capture that a failed launch leaves open.
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
      neighbour_values_(kNeighbourFloats * static_cast<std::int64_t>(sizeof(float))),
      stamps_(kStampBytes),
      read_back_(pinned(kStampBytes)) {
  check_cuda(cudaMemsetAsync(neighbour_values_.get(), 0, kNeighbourFloats * sizeof(float), stream),
             "set memory");
}

int BatchTimer::calls(const Chain& chain) { return chain.launches + untimed_calls(chain); }

GraphExec BatchTimer::prepare(const Chain& chain) const {
  Capture capture(stream_);
  enqueue(chain, cudaEventRecordExternal);
  const Graph graph = capture.finish();
  cudaGraphExec_t exec = nullptr;
  check_kernel(cudaGraphInstantiate(&exec, graph.get(), 0), "making a graph of the launches");
  GraphExec owned(exec);
  replay(exec, chain);
  return owned;
}

TimedBatch BatchTimer::replay(cudaGraphExec_t graph, const Chain& chain) const {
  start(graph);
  return result(chain);
}

TimedBatch BatchTimer::stream(const Chain& chain) const {
  start(chain);
  return result(chain);
}

void BatchTimer::start(cudaGraphExec_t graph) const {
  check_kernel(cudaGraphLaunch(graph, stream_), "launching a graph");
}

void BatchTimer::start(const Chain& chain) const { enqueue(chain, cudaEventRecordDefault); }

TimedBatch BatchTimer::alone(const Chain& chain) const {
  call(chain, 0);
  std::vector<double> seconds;
  const int calls = std::min(chain.launches, std::max(kMostAlone, chain.copies));
  for (int i = 0; i < calls; ++i) {
    if (chain.restore) chain.restore(stream_, i % chain.copies);
    check_kernel(cudaStreamSynchronize(stream_), "running a call");
    record(calls_.begin, cudaEventRecordDefault);
    chain.enqueue(stream_, i % chain.copies);
    record(calls_.end, cudaEventRecordDefault);
    check_kernel(cudaStreamSynchronize(stream_), "running a call");
    seconds.push_back(calls_.seconds());
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  TimedBatch batch;
  batch.seconds = *middle;
  return batch;
}

void BatchTimer::enqueue(const Chain& chain, unsigned event_flags) const {
  // The untimed calls use the last buffer sets, so the first ones are cold when timing starts.
  const int untimed = untimed_calls(chain);
  auto* const stamps = stamps_.as<Stamp>();
  check_cuda(cudaMemsetAsync(stamps, 0, kStampBytes, stream_), "set memory");
  kernels_.stamp(stream_, stamps);
  for (int i = 0; i < untimed; ++i) {
    const int back = (untimed - i) % chain.copies;
    call(chain, back == 0 ? 0 : chain.copies - back);
  }
  record(calls_.begin, event_flags);
  for (int i = 0; i < chain.launches; ++i) call(chain, i % chain.copies);
  record(calls_.end, event_flags);
  if (chain.has_others()) enqueue_others(chain, event_flags);
  kernels_.stamp(stream_, stamps + kMostStamps);
}

void BatchTimer::call(const Chain& chain, int copy) const {
  if (chain.restore) chain.restore(stream_, copy);
  chain.enqueue(stream_, copy);
  if (chain.has_neighbours) call_neighbour();
}

/// What call() enqueues but for the call itself.
void BatchTimer::enqueue_others(const Chain& chain, unsigned event_flags) const {
  Chain others = chain;
  others.enqueue = [](cudaStream_t, int) {};
  for (int i = 0; i < kMostUntimedCalls; ++i) call(others, i % chain.copies);
  record(others_.begin, event_flags);
  for (int i = 0; i < chain.launches; ++i) call(others, i % chain.copies);
  record(others_.end, event_flags);
}

void BatchTimer::record(const Event& event, unsigned flags) const {
  check_cuda(cudaEventRecordWithFlags(event.get(), stream_, flags), "record an event");
}

void BatchTimer::call_neighbour() const {
  kernels_.neighbour(stream_, neighbour_values_.as<float>(), kNeighbourFloats);
}

double BatchTimer::Interval::seconds() const {
  float milliseconds = 0;
  check_kernel(cudaEventElapsedTime(&milliseconds, begin.get(), end.get()), "running a batch");
  return static_cast<double>(milliseconds) * 1e-3;
}

TimedBatch BatchTimer::result(const Chain& chain) const {
  check_kernel(cudaMemcpyAsync(read_back_.get(), stamps_.get(), kStampBytes, cudaMemcpyDeviceToHost,
                               stream_),
               "running a batch");
  check_kernel(cudaStreamSynchronize(stream_), "running a batch");
  double seconds = calls_.seconds();
  if (chain.has_others()) seconds = std::max(seconds - others_.seconds(), kLeastSeconds);
  TimedBatch batch;
  batch.seconds = seconds / chain.launches;
  batch.clock_hz = clock_hz();
  return batch;
}

/// The median over multiprocessors with both stamps.
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
