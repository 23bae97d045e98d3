// SPDX-License-Identifier: Apache-2.0
// How the nodes of a CUDA graph depend on each other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "bench/gemm/report.hpp"
#include "tuner/gpu/cuda_handles.hpp"

namespace autotune::bench {

inline GraphEdges edges_of(cudaGraph_t graph) {
#if CUDART_VERSION >= 13000
  const auto ask = cudaGraphGetEdges;
#else
  const auto ask = cudaGraphGetEdges_v2;
#endif
  std::size_t count = 0;
  check_cuda(ask(graph, nullptr, nullptr, nullptr, &count), "list a graph's edges");
  std::vector<cudaGraphNode_t> from(count), to(count);
  std::vector<cudaGraphEdgeData> data(count);
  check_cuda(ask(graph, from.data(), to.data(), data.data(), &count), "list a graph's edges");
  GraphEdges edges;
  for (const cudaGraphEdgeData& one : data) {
    ++(one.type == cudaGraphDependencyTypeProgrammatic ? edges.programmatic : edges.full);
  }
  return edges;
}

}  // namespace autotune::bench
