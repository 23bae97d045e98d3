// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/implementation.hpp"

#include <algorithm>

#include "bench/gemm/launched_kernels.hpp"

namespace autotune::bench {

Implementation::Implementation(const CudaContext& context, const Operands& operands,
                               std::string name, std::string choice, EnqueueOnce call)
    : context_(context),
      operands_(operands),
      name_(std::move(name)),
      choice_(std::move(choice)),
      call_(std::move(call)) {}

TimedBatch Implementation::time(int launches, L2State l2) {
  return time_in(CallContext::chain, launches, l2);
}

TimedBatch Implementation::time_in(CallContext context, int launches, L2State l2) {
  const int copies = l2 == L2State::cold ? operands_.copies() : 1;
  const Chain chain{call_, std::max(launches, l2 == L2State::cold ? copies : 1), copies,
                    context == CallContext::between};
  TimedBatch batch;
  if (context == CallContext::alone) {
    batch = context_.timer->alone(chain);
  } else {
    GraphExec& graph = graphs_[{chain.launches, chain.copies, chain.has_neighbours}];
    if (!graph) graph = context_.timer->prepare(chain);
    batch = context_.timer->replay(graph.get(), chain);
  }
  batch.l2 = l2;
  return batch;
}

GraphEdges Implementation::edges(bool has_neighbours) const {
  return launched_edges(context_.stream.get(), [&](cudaStream_t stream) {
    for (int i = 0; i < kEdgeCalls; ++i) {
      call_(stream, 0);
      if (has_neighbours) context_.timer->call_neighbour();
    }
  });
}

ImplementationInfo Implementation::examined() const {
  ImplementationInfo info{name_, choice_, {}, {}, edges(false), edges(true)};
  info.accuracy = operands_.judge([this](cudaStream_t stream) { call_(stream, 0); });
  info.kernels =
      launched_kernels(context_.stream.get(), [this](cudaStream_t stream) { call_(stream, 0); });
  for (std::string& kernel : info.kernels) kernel = readable_name(kernel);
  return info;
}

}  // namespace autotune::bench
