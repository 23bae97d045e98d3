// SPDX-License-Identifier: Apache-2.0
// Matrix multiplication: what all families share, and the reference. Each family has its entry points
// in a source of its own, which is compiled behind this one. problem.cuh has the contract. With
// BATCHED, there are several products. Matrices of one operand lie one behind another; with STRIDED,
// at any distance, and their rows have any length. Only this source, those of the families and
// device/element.cuh read the macros of manifests.
#if DTYPE == DTYPE_F16 || DTYPE == DTYPE_BF16
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#elif DTYPE == DTYPE_E4M3 || DTYPE == DTYPE_E5M2
#include <cuda_fp8.h>  // and with it those of 16 bits
#endif

#include "problem.cuh"

#if DTYPE == DTYPE_F16
typedef __half element;  // of A and B
#elif DTYPE == DTYPE_BF16
typedef __nv_bfloat16 element;
#elif DTYPE == DTYPE_I8
typedef signed char element;
#elif DTYPE == DTYPE_E4M3
typedef __nv_fp8_e4m3 element;
#elif DTYPE == DTYPE_E5M2
typedef __nv_fp8_e5m2 element;
#else
typedef real element;
#endif
typedef OUTPUT result;  // an element of C and D
typedef ProblemOf<element, result, COMPUTE> GivenProblem;

/// A family adds its own constants, as `Configuration`. Headers take it as a template argument.
struct ProblemConfiguration {
  // LAYOUT's first letter says how A lies in memory (N: M x K, T: K x M), its second how B does
  // (N: K x N, T: N x K).
  static constexpr bool kATransposed = LAYOUT == LAYOUT_TN || LAYOUT == LAYOUT_TT;
  static constexpr bool kBTransposed = LAYOUT == LAYOUT_NT || LAYOUT == LAYOUT_TT;
  static constexpr Scale kScale = (Scale)SCALE;
  static constexpr Epilogue kEpilogue = (Epilogue)EPILOGUE;
  static constexpr bool kStrided = BATCHED && STRIDED;  // products at any distance
  static constexpr int kBatch = BATCHED && !STRIDED ? 2 : 1;  // 2: any number, one behind another
};

#if STRIDED && BATCHED
#define PACK_STRIDES stride_a, stride_b
#define STRIDE_ARGUMENTS \
  , long long stride_a, long long stride_b, long long stride_c, long long stride_d
#define PRODUCT_OF(first, index) \
  product_at(first, index, stride_a, stride_b, stride_c, stride_d)

template <class Given>
__device__ __forceinline__ Given product_at(Given first, int index, long long stride_a,
                                            long long stride_b, long long stride_c,
                                            long long stride_d) {
  first.A += index * stride_a, first.B += index * stride_b, first.D += index * stride_d;
  if (ProblemConfiguration::kScale == Scale::beta) first.C += index * stride_c;
  return first;
}
#else
#define PACK_STRIDES 0, 0
#define STRIDE_ARGUMENTS
#define PRODUCT_OF(first, index) problem_of_batch<ProblemConfiguration>(first, index)
#endif
#define GEMM_ARGUMENTS                                                                          \
  const element *A, const element *B, const result *C, result *D, COMPUTE alpha, COMPUTE beta, int M, \
      int N, int K, int lda, int ldb, int ldc, int ldd STRIDE_ARGUMENTS
#define GEMM_PROBLEM                                             \
  GivenProblem {                                                 \
    A, B, C, D, alpha, beta, M, N, K, lda, ldb,                  \
        has_bias(ProblemConfiguration::kEpilogue) ? 0 : ldc, ldd \
  }
#define PRODUCT(index) PRODUCT_OF(GEMM_PROBLEM, index)

#if BATCHED
#define PRODUCTS , int products

struct OneProduct : ProblemConfiguration {
  static constexpr int kBatch = 1;
};
#else
#define PRODUCTS
#endif

// The reference: sums in double (integers: in 64 bits).
// Grid (M, N/64, kBatch) rounded up. Block 64 with a column a thread; on the host block 1 with 64
// columns a thread, which walks B row by row as a CPU's caches and vectors want it.

/// What sums are computed in, by way of which elements get there.
template <class T>
struct WideOf {
  typedef double Type;
  typedef float Exact;
};
template <>
struct WideOf<double> {
  typedef double Type, Exact;
};
template <>
struct WideOf<int> {
  typedef long long Type;
  typedef int Exact;
};
template <>
struct WideOf<signed char> : WideOf<int> {};

#ifdef AUTOTUNE_HOST
constexpr int kReferenceColumns = 64;
#else
constexpr int kReferenceColumns = 1;
#endif

#if DTYPE == DTYPE_I8
typedef int answer;
#else
typedef reference_real answer;
#endif

/// What elements of op(A), op(B) and D are multiplied by, as the settings say.
struct GivenScales {
  const float *a, *b, *d;
  answer* amax;  // the largest magnitude before d

  __device__ __forceinline__ double of(int m, int n) const {
    constexpr bool kEach = (Scaled)SCALES == Scaled::rows;
    return (double)a[kEach ? m : 0] * b[kEach ? n : 0];
  }
  __device__ __forceinline__ double of_block(int m, int n, int k, int M, int K) const {
    return (double)a[a_block_at(m, k, M)] * b[b_block_at(n, k, K)];
  }
  /// Of 8 bits, if it is: the largest stand for what is beyond. Bits of doubles of at least 0 are in
  /// the order of these.
  template <class T>
  __device__ __forceinline__ T result(T value) const {
    if constexpr (SCALED_OUTPUT) {
      const double magnitude = fabs((double)value), scaled = value * *d;
      atomicMax(reinterpret_cast<unsigned long long*>(amax),
                (unsigned long long)__double_as_longlong(magnitude));
      return scaled > 448 ? 448 : scaled < -448 ? -448 : scaled;
    }
    return value;
  }
};
#if SCALES == SCALES_NONE
#define SCALE_ARGUMENTS
#define OF_OPERANDS nullptr, nullptr
#else
#define SCALE_ARGUMENTS , const float *scale_a, const float *scale_b
#define OF_OPERANDS scale_a, scale_b
#endif
#if SCALED_OUTPUT
#define OUTPUT_SCALE_ARGUMENTS , const float *scale_d, answer *amax
#define GIVEN_SCALES GivenScales{OF_OPERANDS, scale_d, amax}

extern "C" __global__ void gemm_clear_amax(answer* amax) { *amax = 0; }
#else
#define OUTPUT_SCALE_ARGUMENTS
#define GIVEN_SCALES GivenScales{OF_OPERANDS, nullptr, nullptr}
#endif

/// `D` takes the place of first.D, which may have another type.
template <class Config, class Element, class Result, class Scalar, class T>
__device__ __forceinline__ void multiply_for_reference(
    const ProblemOf<Element, Result, Scalar>& first, T* D, const GivenScales& scales) {
  typedef typename WideOf<Element>::Type wide;
  typedef typename WideOf<Element>::Exact exact;
  typedef typename WideOf<Result>::Exact exact_result;
  const auto p = problem_of_batch<Config>(first, blockIdx.z);
  if (Config::kBatch > 1) D += (long long)blockIdx.z * p.M * p.ldd;
  const int m = blockIdx.x, n0 = (blockIdx.y * blockDim.x + threadIdx.x) * kReferenceColumns;
  wide sum[kReferenceColumns] = {};
  for (int k = 0; k < p.K; ++k) {
    wide a = (exact)a_at<Config>(p, m, k);
    if constexpr ((Scaled)SCALES == Scaled::blocks) a *= scales.of_block(m, n0, k, p.M, p.K);
    if (n0 + kReferenceColumns <= p.N && !Config::kBTransposed) {
      const Element* row = p.B + (long long)k * p.ldb + n0;
      for (int j = 0; j < kReferenceColumns; ++j) sum[j] += a * (exact)row[j];
    } else {
      for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j)
        sum[j] += a * (exact)b_at<Config>(p, k, n0 + j);
    }
  }
  for (int j = 0; j < kReferenceColumns && n0 + j < p.N; ++j) {
    wide value = sum[j];
    if constexpr ((Scaled)SCALES == Scaled::tensor || (Scaled)SCALES == Scaled::rows)
      value *= scales.of(m, n0 + j);
    if (Config::kScale != Scale::none) value *= p.alpha;
    if (Config::kScale == Scale::beta && p.beta != Scalar(0))
      value += (wide)p.beta * (exact_result)p.C[(long long)m * p.ldc + n0 + j];
    if (has_bias(Config::kEpilogue)) value += (exact_result)p.C[n0 + j];
    D[(long long)m * p.ldd + n0 + j] = (T)scales.result(activated<Config::kEpilogue>(value));
  }
}

extern "C" __global__ void gemm_reference(const element* A, const element* B, const result* C,
                                          answer* answers, COMPUTE alpha, COMPUTE beta, int M, int N,
                                          int K, int lda, int ldb, int ldc,
                                          int ldd STRIDE_ARGUMENTS PRODUCTS SCALE_ARGUMENTS
                                              OUTPUT_SCALE_ARGUMENTS) {
  result* const D = nullptr;
#if BATCHED
  for (int i = blockIdx.z; i < products; i += gridDim.z) {
    const GivenProblem problem = PRODUCT(i);
    multiply_for_reference<OneProduct>(problem, answers + (problem.D - D), GIVEN_SCALES);
  }
#else
  multiply_for_reference<ProblemConfiguration>(GEMM_PROBLEM, answers, GIVEN_SCALES);
#endif
}
