// SPDX-License-Identifier: Apache-2.0
// C[M,N] = A[M,K] B[N,K]^T, row-major f16, sums and C in f32, by CUTLASS's device::Gemm:
//   cutlass_gemm M N K CALLS A B C
// Macros TM TN TK WM WN STAGES SWIZZLE: cutlass_gemm.target.toml.
#include <cstdio>
#include <cstdlib>
#include <cutlass/gemm/device/gemm.h>
#include <vector>

using Half = cutlass::half_t;
using Gemm = cutlass::gemm::device::Gemm<
    Half, cutlass::layout::RowMajor, Half, cutlass::layout::ColumnMajor, float,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80,
    cutlass::gemm::GemmShape<TM, TN, TK>, cutlass::gemm::GemmShape<WM, WN, TK>,
    cutlass::gemm::GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<SWIZZLE>, STAGES>;

static void expect(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}
static void expect(cutlass::Status status) {
  if (status == cutlass::Status::kSuccess) return;
  std::fprintf(stderr, "%s\n", cutlassGetStatusString(status));
  std::exit(1);
}

static Half* read(const char* path, std::size_t count) {
  std::vector<Half> host(count);
  FILE* const file = std::fopen(path, "rb");
  if (!file || std::fread(host.data(), sizeof(Half), count, file) != count) std::exit(1);
  Half* device = nullptr;
  expect(cudaMalloc(&device, count * sizeof(Half)));
  expect(cudaMemcpy(device, host.data(), count * sizeof(Half), cudaMemcpyHostToDevice));
  return device;
}

int main(int, char** argv) {
  const int m = std::atoi(argv[1]), n = std::atoi(argv[2]), k = std::atoi(argv[3]);
  const int calls = std::atoi(argv[4]);
  const Half* const a = read(argv[5], std::size_t(m) * k);
  const Half* const b = read(argv[6], std::size_t(n) * k);
  float* c = nullptr;
  expect(cudaMalloc(&c, std::size_t(m) * n * sizeof(float)));
  Gemm gemm;
  expect(gemm.initialize({{m, n, k}, {a, k}, {b, k}, {c, n}, {c, n}, {1.0f, 0.0f}}));
  cudaEvent_t begin, end;
  expect(cudaEventCreate(&begin));
  expect(cudaEventCreate(&end));
  for (int i = 0; i < 3; ++i) expect(gemm.run());
  expect(cudaEventRecord(begin));
  for (int i = 0; i < calls; ++i) expect(gemm.run());
  expect(cudaEventRecord(end));
  expect(cudaEventSynchronize(end));
  float ms = 0;
  expect(cudaEventElapsedTime(&ms, begin, end));
  std::printf("%.6f ms a call\n", ms / calls);
  std::vector<float> host(std::size_t(m) * n);
  expect(cudaMemcpy(host.data(), c, host.size() * sizeof(float), cudaMemcpyDeviceToHost));
  FILE* const file = std::fopen(argv[7], "wb");
  return file && std::fwrite(host.data(), sizeof(float), host.size(), file) == host.size() ? 0 : 1;
}
