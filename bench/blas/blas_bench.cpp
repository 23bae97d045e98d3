// SPDX-License-Identifier: Apache-2.0
// Overhead of a call that is passed on: autotune run -- build/bin/blas_bench. cuBLAS is the stub of
// the tests, which does nothing here. AUTOTUNE_BLAS_LIBRARY may name its libautotune, so
// that no GPU is needed; FAKE_AUTOTUNE=vendor has it answer that cuBLAS is faster.
#include <dlfcn.h>

#include <algorithm>
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "tests/tuner/blas/stub/stub_cublas.hpp"
#include "tuner/text/format.hpp"

namespace {

constexpr int kCalls = 200000, kRounds = 15;

double processor_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Nanoseconds of processor time per call: the median of the rounds.
template <class Call>
double cost_of(const Call& call) {
  std::vector<double> rounds;
  for (int round = 0; round < kRounds; ++round) {
    const double start = processor_nanoseconds();
    for (int i = 0; i < kCalls; ++i) call();
    rounds.push_back((processor_nanoseconds() - start) / kCalls);
  }
  std::nth_element(rounds.begin(), rounds.begin() + kRounds / 2, rounds.end());
  return rounds[kRounds / 2];
}

/// The function behind whatever is preloaded.
template <class Function>
Function* vendor(Function*, const char* name) {
  void* const library = dlopen("libcublas.so.13", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(library ? dlsym(library, name) : nullptr);
}

void print(const char* what, double taken, double direct) {
  std::cout << autotune::format("{:<42} {:6.1f} ns, alone {:5.1f} ns: {:6.1f} ns more\n", what,
                                taken, direct, taken - direct);
}

struct Operands {
  alignas(16) float a[64] = {}, b[64] = {}, c[64] = {};
  float one = 1, zero = 0;
  stub::HandleState handle;
};

void bench_sgemm(Operands& o, const char* what, int lda) {
  const auto time = [&](auto* sgemm) {
    return cost_of(
        [&] { sgemm(&o.handle, 0, 0, 8, 8, 8, &o.one, o.a, lda, o.b, 8, &o.zero, o.c, 8); });
  };
  print(what, time(&cublasSgemm_v2), time(vendor(&cublasSgemm_v2, "cublasSgemm_v2")));
}

void bench_gemm_ex(Operands& o) {
  const auto time = [&](auto* gemm_ex) {
    return cost_of([&] {
      gemm_ex(&o.handle, 0, 0, 8, 8, 8, &o.one, o.a, 2, 8, o.b, 2, 8, &o.zero, o.c, 2, 8, 68, -1);
    });
  };
  print("cublasGemmEx of f16", time(&cublasGemmEx), time(vendor(&cublasGemmEx, "cublasGemmEx")));
}

void bench_lt(Operands& o) {
  stub::Operation relu;
  relu.epilogue = 2;
  stub::Layout layout{0, 0, 1, 8, 8, 8, 0};
  const auto time = [&](auto* matmul) {
    return cost_of([&] {
      matmul(&o.handle, &relu, &o.one, o.a, &layout, o.b, &layout, &o.zero, o.c, &layout, o.c,
             &layout, nullptr, nullptr, 0, nullptr);
    });
  };
  print("cublasLtMatmul with ReLU", time(&cublasLtMatmul),
        time(vendor(&cublasLtMatmul, "cublasLtMatmul")));
}

}  // namespace

int main() {
  if (!vendor(&cublasSgemm_v2, "cublasSgemm_v2")) {
    std::cerr << "the stub of cuBLAS is not loaded\n";
    return 1;
  }
  stub::stub_multiply(false);
  Operands operands;
  bench_sgemm(operands, "cublasSgemm with leading dimensions", 9);
  bench_sgemm(operands, "cublasSgemm", 8);
  bench_gemm_ex(operands);
  bench_lt(operands);
}
