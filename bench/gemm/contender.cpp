// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/contender.hpp"

#include <algorithm>

#include "bench/gemm/launched_kernels.hpp"

namespace autotune::bench {

Contender::Contender(const CudaContext& context, const Operands& operands, std::string name,
                     std::string choice, EnqueueOnce call)
    : context_(context),
      operands_(operands),
      name_(std::move(name)),
      choice_(std::move(choice)),
      call_(std::move(call)) {}

TimedBatch Contender::time(int launches, L2State l2) {
  const int copies = l2 == L2State::cold ? operands_.copies() : 1;
  const Chain chain{call_, std::max(launches, l2 == L2State::cold ? copies : 1), copies};
  GraphExec& graph = graphs_[{chain.launches, chain.copies}];
  if (!graph) graph = context_.timer->prepare(chain);
  TimedBatch batch = context_.timer->replay(graph.get(), chain);
  batch.l2 = l2;
  return batch;
}

ContenderInfo Contender::examined() const {
  ContenderInfo info{name_, choice_, {}, {}};
  info.accuracy = operands_.judge([this](cudaStream_t stream) { call_(stream, 0); });
  info.kernels =
      launched_kernels(context_.stream.get(), [this](cudaStream_t stream) { call_(stream, 0); });
  for (std::string& kernel : info.kernels) kernel = readable_name(kernel);
  return info;
}

}  // namespace autotune::bench
