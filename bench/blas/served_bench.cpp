// SPDX-License-Identifier: Apache-2.0
// Random products in CUDA graphs by plain cuBLAS calls, in the nine kinds that programs use most.
// It knows nothing of autotune: scripts/gpu_served runs it with and without `autotune run`, and
// compares.
//
//   served_bench SEED SHAPES SECONDS [KIND...]   prints a line a shape: `kind M N K us`
//
// A kind is a type and a layout, `bf16-NT`. Each graph has kCalls products with a small kernel
// behind each; the time is that of a product, less that of the small kernel. At most SECONDS are
// spent.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int kCalls = 24, kReplays = 9, kSmall = 16 << 10;
constexpr int kHead = 8;  // memsets that keep the GPU busy until the graphs are enqueued
constexpr std::int64_t kMost = 4096, kBytes = 4 * kMost * kMost;

void check(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "error: %s: status %d\n", what, status);
  std::exit(1);
}

struct Kind {
  std::string name;
  cudaDataType_t type;
  bool a_transposed, b_transposed;
};

const std::vector<Kind> kKinds = {
    {"f32-NN", CUDA_R_32F, false, false},  {"f32-NT", CUDA_R_32F, false, true},
    {"f32-TN", CUDA_R_32F, true, false},   {"bf16-NN", CUDA_R_16BF, false, false},
    {"bf16-NT", CUDA_R_16BF, false, true}, {"bf16-TN", CUDA_R_16BF, true, false},
    {"f16-NN", CUDA_R_16F, false, false},  {"f16-NT", CUDA_R_16F, false, true},
    {"f16-TN", CUDA_R_16F, true, false},
};

struct Shape {
  int m, n, k;
};

struct Program {
  cublasHandle_t handle = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  float *small_x = nullptr, *small_y = nullptr;
  void *a = nullptr, *b = nullptr, *d = nullptr;

  Program() {
    check(cudaStreamCreate(&stream), "a stream");
    check(cublasCreate(&handle), "cuBLAS");
    check(cublasSetStream(handle, stream), "cuBLAS' stream");
    check(cudaEventCreate(&begin), "an event");
    check(cudaEventCreate(&end), "an event");
    for (void** each : {&a, &b, &d}) {
      check(cudaMalloc(each, kBytes), "memory");
      check(cudaMemset(*each, 0, kBytes), "memory");
    }
    for (float** each : {&small_x, &small_y}) {
      check(cudaMalloc(each, sizeof(float) * kSmall), "memory");
      check(cudaMemset(*each, 0, sizeof(float) * kSmall), "memory");
    }
  }

  /// Row-major D = op(A) op(B) is the column-major product of the operands in the other order.
  void multiply(const Kind& kind, const Shape& s) const {
    const float one = 1, zero = 0;
    const auto b_op = kind.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto a_op = kind.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int ldb = kind.b_transposed ? s.k : s.n, lda = kind.a_transposed ? s.m : s.k;
    if (kind.type == CUDA_R_32F) {
      check(cublasSgemm(handle, b_op, a_op, s.n, s.m, s.k, &one, static_cast<const float*>(b), ldb,
                        static_cast<const float*>(a), lda, &zero, static_cast<float*>(d), s.n),
            "cublasSgemm");
    } else {
      check(cublasGemmEx(handle, b_op, a_op, s.n, s.m, s.k, &one, b, kind.type, ldb, a, kind.type,
                         lda, &zero, d, kind.type, s.n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
            "cublasGemmEx");
    }
  }

  void add() const {
    const float one = 1;
    check(cublasSaxpy(handle, kSmall, &one, small_x, 1, small_y, 1), "cublasSaxpy");
  }

  /// Microseconds of a replay, the least of kReplays.
  template <class Work>
  double replayed(const Work& work) const {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a capture");
    for (int i = 0; i < kCalls; ++i) work();
    check(cudaStreamEndCapture(stream, &graph), "a capture");
    check(cudaGraphInstantiate(&exec, graph, 0), "a graph");
    float least = 1e30F;
    for (int i = 0; i <= kReplays; ++i) {
      for (int k = 0; k < kHead; ++k) check(cudaMemsetAsync(d, 0, kBytes, stream), "a memset");
      check(cudaGraphLaunch(exec, stream), "a graph");
      check(cudaEventRecord(begin, stream), "an event");
      check(cudaGraphLaunch(exec, stream), "a graph");
      check(cudaEventRecord(end, stream), "an event");
      check(cudaStreamSynchronize(stream), "a graph");
      float ms = 0;
      check(cudaEventElapsedTime(&ms, begin, end), "an event");
      if (i > 0) least = std::min(least, ms);
    }
    check(cudaGraphExecDestroy(exec), "a graph");
    check(cudaGraphDestroy(graph), "a graph");
    return 1e3 * least;
  }
};

/// Even by logarithms; every other shape has multiples of 8.
Shape random_shape(std::mt19937& random, bool aligned) {
  std::uniform_real_distribution<double> exponent(0, std::log(static_cast<double>(kMost)));
  const auto size = [&] {
    const int any = static_cast<int>(std::lround(std::exp(exponent(random))));
    return aligned ? std::max(8, (any + 4) / 8 * 8) : any;
  };
  const int m = size(), n = size();
  return {m, n, size()};
}

}  // namespace

int main(int count, char** words) {
  if (count < 4) {
    std::fprintf(stderr, "usage: served_bench SEED SHAPES SECONDS [KIND...]\n");
    return 2;
  }
  std::mt19937 random(static_cast<unsigned>(std::atoi(words[1])));
  const int shapes = std::atoi(words[2]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(words[3]));
  const std::vector<std::string> wanted(words + 4, words + count);
  const Program program;
  program.add();
  const double alone = program.replayed([&] { program.add(); });
  for (int i = 0; i < shapes; ++i) {
    const Shape shape = random_shape(random, i % 2 == 0);
    for (const Kind& kind : kKinds) {
      if (!wanted.empty() && std::ranges::find(wanted, kind.name) == wanted.end()) continue;
      if (std::chrono::steady_clock::now() > until) return 0;
      program.multiply(kind, shape);
      check(cudaStreamSynchronize(program.stream), "a product");
      const double both = program.replayed([&] {
        program.multiply(kind, shape);
        program.add();
      });
      std::printf("%s %d %d %d %.3f\n", kind.name.c_str(), shape.m, shape.n, shape.k,
                  (both - alone) / kCalls);
    }
  }
  return 0;
}
