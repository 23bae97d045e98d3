// SPDX-License-Identifier: Apache-2.0
// The sum of N f32 by cub::DeviceReduce, with a policy of our own in place of CUB's:
//   device_reduce N CALLS IN OUT
// Macros THREADS ITEMS VECTOR ALGORITHM LOAD: device_reduce.target.toml.
#include <cstdio>
#include <cstdlib>
#include <cub/cub.cuh>
#include <vector>

using Sum = ::cuda::std::plus<>;

struct Tuned {
  struct Policy : cub::ChainedPolicy<500, Policy, Policy> {
    using ReducePolicy =
        cub::AgentReducePolicy<THREADS, ITEMS, float, VECTOR, cub::ALGORITHM, cub::LOAD>;
    using SingleTilePolicy = ReducePolicy;
    using SegmentedReducePolicy = ReducePolicy;
  };
  using MaxPolicy = Policy;
};

using Reduce = cub::DispatchReduce<const float*, float*, int, Sum, float, float,
                                   ::cuda::std::identity, Tuned>;

static void expect(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

int main(int, char** argv) {
  const int n = std::atoi(argv[1]), calls = std::atoi(argv[2]);
  std::vector<float> host(n);
  FILE* const input = std::fopen(argv[3], "rb");
  if (!input || std::fread(host.data(), sizeof(float), n, input) != std::size_t(n)) return 1;
  float *in, *out;
  expect(cudaMalloc(&in, n * sizeof(float)));
  expect(cudaMalloc(&out, sizeof(float)));
  expect(cudaMemcpy(in, host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  std::size_t bytes = 0;
  void* scratch = nullptr;
  const auto sum = [&] { return Reduce::Dispatch(scratch, bytes, in, out, n, Sum{}, 0.0f, nullptr); };
  expect(sum());  // how many bytes it needs
  expect(cudaMalloc(&scratch, bytes));
  cudaEvent_t begin, end;
  expect(cudaEventCreate(&begin));
  expect(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) expect(sum());
  expect(cudaEventRecord(begin));
  for (int i = 0; i < calls; ++i) expect(sum());
  expect(cudaEventRecord(end));
  expect(cudaEventSynchronize(end));
  float ms = 0, result = 0;
  expect(cudaEventElapsedTime(&ms, begin, end));
  expect(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost));
  std::printf("%.6f ms a call\n", ms / calls);
  FILE* const output = std::fopen(argv[4], "wb");
  return output && std::fwrite(&result, sizeof result, 1, output) == 1 ? 0 : 1;
}
