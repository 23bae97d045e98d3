// SPDX-License-Identifier: Apache-2.0
// What every gemm kernel computes, and what it is given.
//
//   D[m,n] = activation(alpha * sum over k of op(A)[m,k] op(B)[k,n] + beta * C[m,n])
//
// All matrices are row-major. op(A) is M x K, op(B) is K x N; a transposed operand lies in memory
// as K x M or N x K. lda, ldb, ldc and ldd are lengths of memory rows in elements. kBatch problems
// lie one behind another, rows * ld elements apart. D may be C. An epilogue with a bias takes C as
// the bias, a row that is added to all rows: ldc is 0, and beta is not used.
//
// `Config` is a kernel's configuration, a struct of constants. Each has kATransposed, kBTransposed,
// kScale, kEpilogue and kBatch.
#pragma once

#include "device/element.cuh"

/// What is done to an element of D, in the order of the manifest's words. A bias is a row of N
/// elements.
enum class Epilogue { none, relu, gelu, bias, bias_relu, bias_gelu };

constexpr bool has_bias(Epilogue epilogue) { return epilogue >= Epilogue::bias; }
constexpr bool has_relu(Epilogue epilogue) {
  return epilogue == Epilogue::relu || epilogue == Epilogue::bias_relu;
}
constexpr bool has_gelu(Epilogue epilogue) {
  return epilogue == Epilogue::gelu || epilogue == Epilogue::bias_gelu;
}

__device__ inline float hyperbolic_tangent(float x) { return tanhf(x); }
__device__ inline double hyperbolic_tangent(double x) { return tanh(x); }

/// ReLU keeps a NaN. GELU is the approximation by tanh, as in cuBLASLt.
template <Epilogue epilogue, class T>
__device__ inline T activated(T x) {
  if constexpr (has_relu(epilogue)) return x < T(0) ? T(0) : x;
  if constexpr (has_gelu(epilogue))
    return T(0.5) * x *
           (T(1) + hyperbolic_tangent(T(0.7978845608028654) * (x + T(0.044715) * x * x * x)));
  return x;
}

/// What is compiled: D = A B, D = alpha A B, or all of the formula. Only `beta` reads C, and only
/// if beta is not 0 (as BLAS does): else C may hold anything.
enum class Scale { none, alpha, beta };

/// What A and B are multiplied by, in the order of the manifest's words: nothing; a factor for each
/// of the two; one for each row of op(A) and each column of op(B); one for 1 x 128 elements of
/// op(A) along k, and for 128 x 128 of op(B). Factors of blocks lie in lines of multiples of four:
/// a line has all rows of op(A), or all blocks of op(B) along k.
enum class Scaled { none, tensor, rows, blocks };

/// Where factors of blocks lie.
__device__ __forceinline__ long long a_block_at(int m, int k, int M) {
  return (long long)(k / 128) * ((M + 3) / 4 * 4) + m;
}
__device__ __forceinline__ long long b_block_at(int n, int k, int K) {
  return (long long)(n / 128) * (((K + 127) / 128 + 3) / 4 * 4) + k / 128;
}

template <class Config>
constexpr bool kReadsC = Config::kScale == Scale::beta || has_bias(Config::kEpilogue);

/// Of operands of `Element`s, C and D of `Result`s, scaled by `Scalar`s.
template <class Element, class Result, class Scalar>
struct ProblemOf {
  const Element *A, *B;
  const Result* C;
  Result* D;
  Scalar alpha, beta;
  int M, N, K, lda, ldb, ldc, ldd;
};
typedef ProblemOf<real, real, real> Problem;

/// The problem `batch` of those that begin at `first`.
template <class Config, class Given>
__device__ __forceinline__ Given problem_of_batch(Given first, int batch) {
  if (Config::kBatch > 1) {
    first.A += (long long)batch * (Config::kATransposed ? first.K : first.M) * first.lda;
    first.B += (long long)batch * (Config::kBTransposed ? first.N : first.K) * first.ldb;
    first.C += (long long)batch * (kReadsC<Config> ? first.M : 0) * first.ldc;
    first.D += (long long)batch * first.M * first.ldd;
  }
  return first;
}

template <class Config, class Given>
__device__ inline auto a_at(const Given& p, int m, int k) {
  return Config::kATransposed ? p.A[(long long)k * p.lda + m] : p.A[(long long)m * p.lda + k];
}

template <class Config, class Given>
__device__ inline auto b_at(const Given& p, int k, int n) {
  return Config::kBTransposed ? p.B[(long long)n * p.ldb + k] : p.B[(long long)k * p.ldb + n];
}

/// From a sum over k, alpha and beta; `c_at` is the place of its element in C.
template <class Config>
__device__ inline real scaled(real sum, real alpha, real beta, const real* C, long long c_at) {
  if (Config::kScale == Scale::none) return sum;
  if (Config::kScale == Scale::alpha || beta == real(0)) return alpha * sum;
  return alpha * sum + beta * C[c_at];
}

/// An element of D, from its sum over k.
template <class Config>
__device__ inline real finished(real sum, real alpha, real beta, const real* C, long long c_at) {
  real value = scaled<Config>(sum, alpha, beta, C, c_at);
  if (has_bias(Config::kEpilogue)) value += C[c_at];
  return activated<Config::kEpilogue>(value);
}

/// Writes D[m,n].
template <class Config>
__device__ inline void store(const Problem& p, int m, int n, real sum) {
  p.D[(long long)m * p.ldd + n] =
      finished<Config>(sum, p.alpha, p.beta, p.C, (long long)m * p.ldc + n);
}
