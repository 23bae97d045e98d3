// SPDX-License-Identifier: Apache-2.0
#include "bench/gemm/launched_kernels.hpp"

#include <cuda.h>

#include "bench/gemm/graph_edges.hpp"
#include "tuner/gpu/cuda_handles.hpp"

namespace autotune::bench {
namespace {

/// Of the driver, which is not linked; nullptr where it has none of this name.
template <class Function>
Function* driver_function(const char* name, unsigned version) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t error =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &found);
  if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function*>(address);
}

struct Driver {
  decltype(cuGraphKernelNodeGetParams)* node_parameters =
      driver_function<decltype(cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams", 12000);
  decltype(cuFuncGetName)* function_name =
      driver_function<decltype(cuFuncGetName)>("cuFuncGetName", 12030);
  decltype(cuKernelGetName)* kernel_name =
      driver_function<decltype(cuKernelGetName)>("cuKernelGetName", 12030);
};

std::string name_of(const Driver& driver, cudaGraphNode_t node) {
  CUDA_KERNEL_NODE_PARAMS parameters{};
  const char* name = nullptr;
  if (driver.node_parameters(node, &parameters) != CUDA_SUCCESS) return "?";
  const CUresult result = parameters.func != nullptr ? driver.function_name(&name, parameters.func)
                                                     : driver.kernel_name(&name, parameters.kern);
  return result == CUDA_SUCCESS && name != nullptr ? name : "?";
}

Graph captured(cudaStream_t stream, const std::function<void(cudaStream_t)>& call) {
  const auto end = [stream] {
    cudaGraph_t graph = nullptr;
    if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) cudaGetLastError();
    return Graph(graph);
  };
  check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "make a graph");
  try {
    call(stream);
  } catch (...) {
    end();
    throw;
  }
  return end();
}

}  // namespace

std::vector<std::string> launched_kernels(cudaStream_t stream,
                                          const std::function<void(cudaStream_t)>& call) {
  static const Driver kDriver;
  const Graph graph = captured(stream, call);
  if (!graph || !kDriver.node_parameters || !kDriver.function_name || !kDriver.kernel_name) {
    return {};
  }
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph.get(), nullptr, &count) != cudaSuccess) return {};
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph.get(), nodes.data(), &count) != cudaSuccess) return {};
  std::vector<std::string> names;
  for (cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type{};
    if (cudaGraphNodeGetType(node, &type) != cudaSuccess) continue;
    if (type == cudaGraphNodeTypeKernel) names.push_back(name_of(kDriver, node));
  }
  return names;
}

GraphEdges launched_edges(cudaStream_t stream, const std::function<void(cudaStream_t)>& calls) {
  const Graph graph = captured(stream, calls);
  return graph ? edges_of(graph.get()) : GraphEdges{};
}

}  // namespace autotune::bench
