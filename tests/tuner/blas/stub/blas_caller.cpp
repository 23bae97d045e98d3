// SPDX-License-Identifier: Apache-2.0
// A program that calls cuBLAS and knows nothing of autotune. It checks every result.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/tuner/blas/stub/passed_on_calls.hpp"
#include "tests/tuner/blas/stub/stub_cublas.hpp"

namespace {

using Random = std::mt19937;

int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// A matrix in column-major order, `batch` times, at an address aligned to 16 bytes or just not.
struct Matrix {
  Matrix(Random& random, std::int64_t rows, std::int64_t columns, std::int64_t pad, int batch,
         bool is_odd)
      : leading(rows + pad), stride(leading * columns), memory(stride * batch + 8) {
    for (float& value : memory) value = std::uniform_real_distribution<float>(-1, 1)(random);
    const auto bits = reinterpret_cast<std::uintptr_t>(memory.data());
    start = memory.data() + (16 - bits % 16) % 16 / 4 + (is_odd ? 1 : 0);
  }
  std::int64_t leading, stride;
  std::vector<float> memory;
  float* start;
};

/// Of cublasLtMatmul: none mostly, ReLU, GELU, each with a bias or without, and one with a further
/// output.
int any_epilogue(Random& random) {
  constexpr std::array kEpilogues{1, 1, 1, 2, 4, 6, 32, 36, 130};
  return kEpilogues[static_cast<std::size_t>(pick(random, 0, kEpilogues.size() - 1))];
}

struct Problem {
  explicit Problem(Random& random)
      : m(pick(random, 1, 20)),
        n(pick(random, 1, 20)),
        k(pick(random, 1, 20)),
        batch(pick(random, 0, 2) == 0 ? pick(random, 2, 5) : 1),
        op_a(pick(random, 0, 2)),
        op_b(pick(random, 0, 2)),
        pad(pick(random, 0, 3) == 0 ? 4 : 0),
        is_odd(pick(random, 0, 7) == 0),
        alpha(pick(random, 0, 2) == 0   ? 1.5F
              : pick(random, 0, 9) == 0 ? 0.0F
                                        : 1.0F),
        beta(pick(random, 0, 2) == 0 ? -0.5F : 0.0F),
        function(pick(random, 0, 4)),
        epilogue(function == 4 ? any_epilogue(random) : 1) {}
  int m, n, k, batch, op_a, op_b, pad;
  bool is_odd;
  float alpha, beta;
  int function, epilogue;
};

double finished(const Problem& p, double value, double bias) {
  if (p.epilogue & 4) value += bias;
  if (p.epilogue & 2) value = std::max(value, 0.0);
  if ((p.epilogue & 32) == 0) return value;
  return 0.5 * value * (1 + std::erf(value / std::sqrt(2.0)));
}

/// What the product should be, in double.
double expected(const Problem& p, const Matrix& a, const Matrix& b, double c, std::int64_t row,
                std::int64_t column, int product) {
  double sum = 0;
  for (std::int64_t at = 0; at < p.k; ++at) {
    const auto from = [&](const Matrix& matrix, bool is_plain, std::int64_t i, std::int64_t j) {
      const std::int64_t place = is_plain ? i + j * matrix.leading : j + i * matrix.leading;
      return static_cast<double>(matrix.start[place + product * matrix.stride]);
    };
    sum += from(a, p.op_a == 0, row, at) * from(b, p.op_b == 0, at, column);
  }
  return p.alpha * sum + (p.beta != 0 ? p.beta * c : 0);
}

void call_lt(const Problem& p, Matrix& a, Matrix& b, const float* bias, const Matrix& c,
             const Matrix& d, stub::HandleState& handle) {
  stub::Operation operation;
  operation.epilogue = p.epilogue;
  operation.bias = bias;
  operation.op_a = p.op_a;
  operation.op_b = p.op_b;
  stub::Layout la{0,         0,       p.batch, p.op_a == 0 ? p.m : p.k, p.op_a == 0 ? p.k : p.m,
                  a.leading, a.stride};
  stub::Layout lb{0,         0,       p.batch, p.op_b == 0 ? p.k : p.n, p.op_b == 0 ? p.n : p.k,
                  b.leading, b.stride};
  stub::Layout lc{0, 0, p.batch, p.m, p.n, c.leading, c.stride};
  stub::Layout ld{0, 0, p.batch, p.m, p.n, d.leading, d.stride};
  cublasLtMatmul(&handle, &operation, &p.alpha, a.start, &la, b.start, &lb, &p.beta, c.start, &lc,
                 d.start, &ld, nullptr, nullptr, 0, handle.stream);
}

void call_one(int function, const Problem& p, const Matrix& a, const Matrix& b, float* c,
              std::int64_t ldc, std::int64_t stride, stub::HandleState& handle) {
  const auto lda = static_cast<int>(a.leading), ldb = static_cast<int>(b.leading);
  const int short_ldc = static_cast<int>(ldc);
  const bool is_long = function % 2 == 1;
  if (p.batch == 1 && function < 2) {
    is_long ? cublasSgemm_v2_64(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start,
                                a.leading, b.start, b.leading, &p.beta, c, ldc)
            : cublasSgemm_v2(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start, lda,
                             b.start, ldb, &p.beta, c, short_ldc);
  } else if (p.batch == 1) {
    is_long ? cublasGemmEx_64(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start, 0,
                              a.leading, b.start, 0, b.leading, &p.beta, c, 0, ldc, 68, -1)
            : cublasGemmEx(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start, 0, lda,
                           b.start, 0, ldb, &p.beta, c, 0, short_ldc, 68, -1);
  } else if (function < 2) {
    is_long ? cublasSgemmStridedBatched_64(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha,
                                           a.start, a.leading, a.stride, b.start, b.leading,
                                           b.stride, &p.beta, c, ldc, stride, p.batch)
            : cublasSgemmStridedBatched(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start,
                                        lda, a.stride, b.start, ldb, b.stride, &p.beta, c,
                                        short_ldc, stride, p.batch);
  } else {
    is_long ? cublasGemmStridedBatchedEx_64(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha,
                                            a.start, 0, a.leading, a.stride, b.start, 0, b.leading,
                                            b.stride, &p.beta, c, 0, ldc, stride, p.batch, 68, -1)
            : cublasGemmStridedBatchedEx(&handle, p.op_a, p.op_b, p.m, p.n, p.k, &p.alpha, a.start,
                                         0, lda, a.stride, b.start, 0, ldb, b.stride, &p.beta, c, 0,
                                         short_ldc, stride, p.batch, 68, -1);
  }
}

/// One random call; false if an element is wrong.
bool call_and_check(Random& random, stub::HandleState& handle) {
  const Problem p(random);
  Matrix a(random, p.op_a == 0 ? p.m : p.k, p.op_a == 0 ? p.k : p.m, p.pad, p.batch, p.is_odd);
  Matrix b(random, p.op_b == 0 ? p.k : p.n, p.op_b == 0 ? p.n : p.k, p.pad, p.batch, false);
  Matrix c(random, p.m, p.n, p.pad, p.batch, false), d(random, p.m, p.n, 0, p.batch, false);
  const Matrix bias(random, p.m, 1, 0, 1, true);
  const std::vector<float> before = c.memory;
  const std::ptrdiff_t offset = c.start - c.memory.data();
  if (p.function == 4) {
    call_lt(p, a, b, bias.start, c, d, handle);
  } else {
    call_one(p.function, p, a, b, c.start, c.leading, c.stride, handle);
  }
  const Matrix& result = p.function == 4 ? d : c;
  for (int product = 0; product < p.batch; ++product) {
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(p.m) * p.n; ++i) {
      const std::int64_t row = i % p.m, column = i / p.m;
      const auto place = [&](const Matrix& matrix) {
        return row + column * matrix.leading + product * matrix.stride;
      };
      const double right = finished(
          p, expected(p, a, b, before[offset + place(c)], row, column, product), bias.start[row]);
      // GELU is an approximation.
      const double bound = 1e-5 * (p.k + 1) + ((p.epilogue & 32) != 0 ? 1e-3 : 0);
      if (std::abs(result.start[place(result)] - right) > bound) return false;
    }
  }
  return true;
}

int random_calls(int seed, int count) {
  Random random(static_cast<unsigned>(seed));
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    handle.math_mode = pick(random, 0, 15) == 0 ? 3 : 0;
    stream.is_captured = pick(random, 0, 15) == 0;
    wrong += call_and_check(random, handle) ? 0 : 1;
  }
  return wrong;
}

int calls_of_threads() {
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    // Two threads make the same calls.
    threads.emplace_back([&wrong, i] { wrong[i] = random_calls(i / 2, 250); });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}

/// C = A B + beta C of 8x8 matrices.
struct Eights {
  Random random{1};
  Matrix a{random, 8, 8, 0, 1, false}, b{random, 8, 8, 0, 1, false}, c{random, 12, 8, 0, 1, false};

  void multiply(stub::HandleState& handle, float alpha = 1, int lda = 8, int ldc = 8,
                float beta = 0) {
    cublasSgemm_v2(&handle, 0, 0, 8, 8, 8, &alpha, a.start, lda, b.start, 8, &beta, c.start, ldc);
  }
};

/// The same product `count` times on each of `streams` streams.
int same_calls(int count, int streams, bool is_captured) {
  Eights eights;
  std::vector<stub::StreamState> all(static_cast<std::size_t>(streams));
  for (int i = 0; i < count * streams; ++i) {
    stub::StreamState& stream = all[static_cast<std::size_t>(i % streams)];
    stream.is_captured = is_captured;
    stream.capture = static_cast<std::uint64_t>(1 + i / 2);  // two calls each
    stub::HandleState handle{&stream, 0, 0};
    eights.multiply(handle);
  }
  return 0;
}

/// The same product in `count` captures, after one call outside. Graphs are gone before the next.
int calls_in_graphs_that_end(int count) {
  Eights eights;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  for (int i = 0; i <= count; ++i) {
    stream.is_captured = i > 0;
    stream.capture = static_cast<std::uint64_t>(i);
    eights.multiply(handle);
    stub::stub_destroy_graph(stream.capture);
  }
  return 0;
}

/// The same product in and outside of captures that the program has broken.
int calls_in_broken_captures(int count) {
  Eights eights;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  for (int i = 0; i < 2 * count; ++i) {
    stream.is_captured = stream.is_broken = i % 2 == 1;
    eights.multiply(handle);
  }
  return 0;
}

/// Calls of cublasLtMatmul with the same descriptors, whose contents change between them. The
/// number of wrong results.
int changed_descriptors() {
  alignas(16) std::array<float, 64> a{}, b{}, d{};
  a.fill(1), b.fill(1);
  const std::array<float, 8> tens{10, 10, 10, 10, 10, 10, 10, 10}, minus_twenties{-20};
  const float one = 1, zero = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  stub::Operation operation;
  stub::Layout layout{0, 0, 1, 8, 8, 8, 0};
  int wrong = 0;
  const auto expect_first = [&](float first) {
    cublasLtMatmul(&handle, &operation, &one, a.data(), &layout, b.data(), &layout, &zero, d.data(),
                   &layout, d.data(), &layout, nullptr, nullptr, 0, handle.stream);
    wrong += d[0] == first ? 0 : 1;
  };
  expect_first(8);
  operation.epilogue = 4, operation.bias = tens.data();
  expect_first(18);
  operation.bias = minus_twenties.data();
  expect_first(-12);
  operation.epilogue = 6;
  expect_first(0);
  operation.epilogue = 1;
  layout.rows = layout.columns = layout.leading = 4;
  expect_first(4);
  operation.compute_type = 77;  // TF32
  expect_first(4);
  return wrong;
}

/// Random calls, then others in a forked process, which ends as usual, and in this one.
int forked_calls(int count) {
  int wrong = random_calls(1, count);
  const pid_t child = fork();
  if (child == 0) std::exit(random_calls(2, count));
  int status = 0;
  waitpid(child, &status, 0);
  wrong += status == 0 ? 0 : 1;
  return wrong + random_calls(3, count);
}

/// One call of each kind that is passed on for its arguments.
int refused_calls() {
  Eights eights;
  const float one = 1, zero = 0;
  float *const a = eights.a.start, *const b = eights.b.start, *const c = eights.c.start;
  stub::HandleState handle, on_device{nullptr, 1, 0}, tf32{nullptr, 0, 3};
  stub::stub_multiply(false);
  eights.multiply(on_device);
  eights.multiply(tf32);
  eights.multiply(handle, 0);
  eights.multiply(handle, 1, 7);  // fewer than the rows
  cublasGemmEx(&handle, 0, 0, 8, 8, 8, &one, a, 3, 8, b, 3, 8, &zero, c, 0, 8, 68, -1);
  cublasSgemm_v2(&handle, 0, 0, 0, 8, 8, &one, a, 8, b, 8, &zero, c, 8);
  stub::Operation relu;
  relu.epilogue = 130;  // with a mask of the signs
  stub::Layout layout{0, 0, 1, 8, 8, 8, 0};
  cublasLtMatmul(&handle, &relu, &one, a, &layout, b, &layout, &zero, c, &layout, c, &layout,
                 nullptr, nullptr, 0, nullptr);
  return stub::stub_calls() == 7 ? 0 : 1;
}

/// D = A B + C twice, the second time with a leading dimension of C.
int calls_with_beta() {
  Eights eights;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  for (const int ldc : {8, 12}) eights.multiply(handle, 1, 8, ldc, 1);
  return 0;
}

/// A product of f16, and three in one call, which nobody computes here.
int half_calls() {
  Random random(1);
  Matrix a(random, 8, 8, 0, 3, false), b(random, 8, 8, 0, 3, false), c(random, 8, 8, 0, 3, false);
  const float one = 1, zero = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  return cublasGemmEx(&handle, 0, 0, 8, 8, 8, &one, a.start, 2, 8, b.start, 2, 8, &zero, c.start, 2,
                      8, 68, -1) +
         cublasGemmStridedBatchedEx(&handle, 0, 0, 8, 8, 8, &one, a.start, 2, 8, 64, b.start, 2, 8,
                                    64, &zero, c.start, 2, 8, 64, 3, 68, -1);
}

/// A linear layer in bf16 with a bias, as PyTorch calls it. Nobody computes it here.
int linear_call() {
  alignas(16) std::array<float, 512> a{}, b{}, d{};
  std::array<float, 16> bias{};
  const float one = 1, zero = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  stub::Operation operation;
  operation.op_a = 1;
  operation.epilogue = 4, operation.bias = bias.data();
  stub::Layout weight{14, 0, 1, 24, 16, 24, 0}, x{14, 0, 1, 24, 8, 24, 0},
      y{14, 0, 1, 16, 8, 16, 0};
  return cublasLtMatmul(&handle, &operation, &one, a.data(), &weight, b.data(), &x, &zero, d.data(),
                        &y, d.data(), &y, nullptr, nullptr, 0, handle.stream);
}

/// A linear layer in e4m3 with f32 results and factors of both operands, twice: with promoted sums,
/// and with factors that no kernel has. Nobody computes it here, but tells the factors.
int call_of_eight_bits() {
  alignas(16) std::array<float, 512> a{}, b{}, d{};
  alignas(16) const std::array<float, 4> of_weight{2};
  alignas(16) const std::array<float, 4> of_x{3};
  const float one = 1, zero = 0;
  stub::StreamState stream;
  stub::HandleState handle{&stream, 0, 0};
  stub::Operation operation;
  operation.op_a = 1;
  operation.a_scale = of_weight.data(), operation.b_scale = of_x.data();
  stub::Layout weight{28, 0, 1, 32, 16, 32, 0}, x{28, 0, 1, 32, 8, 32, 0}, y{0, 0, 1, 16, 8, 16, 0};
  for (const int mode : {0, 3}) {
    operation.a_scale_mode = mode;  // 3: of lines
    cublasLtMatmul(&handle, &operation, &one, a.data(), &weight, b.data(), &x, &zero, d.data(), &y,
                   d.data(), &y, nullptr, nullptr, 0, handle.stream);
    if (mode == 0 && d[0] != 32) return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  int wrong = 1;
  if (what == "random") wrong = random_calls(7, count);
  if (what == "threads") wrong = calls_of_threads();
  if (what == "same") wrong = same_calls(count, 1, false);
  if (what == "streams") wrong = same_calls(count, 2, false);
  if (what == "captured") wrong = same_calls(count, 1, true);
  if (what == "prepared and captured") wrong = same_calls(1, 1, false) + same_calls(count, 1, true);
  if (what == "half") wrong = half_calls();
  if (what == "linear") wrong = linear_call();
  if (what == "eight bits") wrong = call_of_eight_bits();
  if (what == "forked") wrong = forked_calls(count);
  if (what == "changed") wrong = changed_descriptors();
  if (what == "refused") wrong = refused_calls();
  if (what == "invalid") wrong = invalid_calls();
  if (what == "settings") wrong = calls_with_settings();
  if (what == "pointers") wrong = calls_of_pointers();
  if (what == "beta") wrong = calls_with_beta();
  if (what == "plugin") wrong = call_of_plugin();
  if (what == "graphs that end") wrong = calls_in_graphs_that_end(count);
  if (what == "broken captures") wrong = calls_in_broken_captures(count);
  if (what == "short") {
    wrong = same_calls(count, 1, false);
    usleep(100'000);  // until the kernel is being prepared
  }
  if (what == "nothing") wrong = 0;
  if (what == "crash") {
    same_calls(count, 1, false);
    std::abort();
  }
  // Not through the preloaded library: what reached cuBLAS.
  std::printf("wrong %d, cuBLAS %d\n", wrong, static_cast<int>(stub::stub_calls()));
  return wrong == 0 ? 0 : 1;
}
