// SPDX-License-Identifier: Apache-2.0
// A cuBLAS of the tests: it multiplies on the CPU, and has what libautotune_blas asks of cuBLAS and
// of the CUDA driver. Only signatures are cuBLAS'.
#pragma once

#include <cstddef>
#include <cstdint>

#pragma GCC visibility push(default)

namespace stub {

struct StreamState {
  bool is_captured = false;
  std::uint64_t capture = 1;  // its number
  bool is_broken = false;     // its capture
};

struct HandleState {
  StreamState* stream = nullptr;
  int pointer_mode = 0, math_mode = 0, sm_count_target = 0;
};

/// Of a cublasLtMatmulDesc_t.
struct Operation {
  std::int32_t compute_type = 68, scale_type = 0, pointer_mode = 0, op_a = 0, op_b = 0, op_c = 0,
               epilogue = 1, bias_type = -1, sm_count_target = 0, a_scale_mode = 0,
               b_scale_mode = 0;
  std::int8_t fast_sums = 0;
  std::int32_t newest = 0;  // which no version of cuBLAS has
  const float* bias = nullptr;
  const float* a_scale = nullptr;
  const float* b_scale = nullptr;
  float* amax_d = nullptr;
};

/// Of a cublasLtMatrixLayout_t, which has 64 bytes.
struct alignas(64) Layout {
  std::int32_t type = 0, order = 0, batch = 1;
  std::int64_t rows = 0, columns = 0, leading = 0, stride = 0, plane_offset = 0;
  std::int32_t batch_mode = 0;
  std::int32_t newest = 0;  // which no version of cuBLAS has
};

/// Of a cublasLtMatmulAlgo_t, which has 64 bytes. The library has the algorithms 0 and 1.
struct alignas(64) Algorithm {
  std::int64_t number = 0, workspace_bytes = 0;
};

/// Calls that reached this library.
extern "C" std::uint64_t stub_calls();
/// Destroys the graph of a capture.
extern "C" void stub_destroy_graph(std::uint64_t capture);
/// Without its products a call takes no time.
extern "C" void stub_multiply(bool does);

}  // namespace stub

extern "C" {
#define STUB_SGEMM(NAME, INT)                                                         \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const float* alpha, \
           const float* a, INT lda, const float* b, INT ldb, const float* beta, float* c, INT ldc)
#define STUB_BATCHED_SGEMM(NAME, INT)                                                    \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const float* alpha,    \
           const float* a, INT lda, long long stride_a, const float* b, INT ldb,         \
           long long stride_b, const float* beta, float* c, INT ldc, long long stride_c, \
           INT batch)
#define STUB_GEMM_EX(NAME, INT)                                                      \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha, \
           const void* a, int a_type, INT lda, const void* b, int b_type, INT ldb,   \
           const void* beta, void* c, int c_type, INT ldc, int compute_type, int algorithm)
#define STUB_BATCHED_GEMM_EX(NAME, INT)                                                       \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha,          \
           const void* a, int a_type, INT lda, long long stride_a, const void* b, int b_type, \
           INT ldb, long long stride_b, const void* beta, void* c, int c_type, INT ldc,       \
           long long stride_c, INT batch, int compute_type, int algorithm)
#define STUB_SGEMM_OF_POINTERS(NAME, INT)                                                     \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const float* alpha,         \
           const float* const* a, INT lda, const float* const* b, INT ldb, const float* beta, \
           float* const* c, INT ldc, INT batch)
#define STUB_GEMM_EX_OF_POINTERS(NAME, INT)                                                      \
  int NAME(void* handle, int op_a, int op_b, INT m, INT n, INT k, const void* alpha,             \
           const void* const* a, int a_type, INT lda, const void* const* b, int b_type, INT ldb, \
           const void* beta, void* const* c, int c_type, INT ldc, INT batch, int compute_type,   \
           int algorithm)
#define STUB_GROUPED_SGEMM(NAME, INT)                                                  \
  int NAME(void* handle, const int* op_a, const int* op_b, const INT* m, const INT* n, \
           const INT* k, const float* alpha, const float* const* a, const INT* lda,    \
           const float* const* b, const INT* ldb, const float* beta, float* const* c,  \
           const INT* ldc, INT groups, const INT* sizes)
#define STUB_GROUPED_GEMM_EX(NAME, INT)                                                        \
  int NAME(void* handle, const int* op_a, const int* op_b, const INT* m, const INT* n,         \
           const INT* k, const void* alpha, const void* const* a, int a_type, const INT* lda,  \
           const void* const* b, int b_type, const INT* ldb, const void* beta, void* const* c, \
           int c_type, const INT* ldc, INT groups, const INT* sizes, int compute_type)

STUB_SGEMM(cublasSgemm_v2, int);
STUB_SGEMM(cublasSgemm_v2_64, std::int64_t);
STUB_BATCHED_SGEMM(cublasSgemmStridedBatched, int);
STUB_BATCHED_SGEMM(cublasSgemmStridedBatched_64, std::int64_t);
STUB_GEMM_EX(cublasGemmEx, int);
STUB_GEMM_EX(cublasGemmEx_64, std::int64_t);
STUB_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx, int);
STUB_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx_64, std::int64_t);
STUB_SGEMM_OF_POINTERS(cublasSgemmBatched, int);
STUB_SGEMM_OF_POINTERS(cublasSgemmBatched_64, std::int64_t);
STUB_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx, int);
STUB_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx_64, std::int64_t);
STUB_GROUPED_SGEMM(cublasSgemmGroupedBatched, int);
STUB_GROUPED_SGEMM(cublasSgemmGroupedBatched_64, std::int64_t);
STUB_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx, int);
STUB_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx_64, std::int64_t);
int cublasLtMatmulAlgoCheck(void* handle, void* operation, void* a_layout, void* b_layout,
                            void* c_layout, void* d_layout, const void* algorithm, void* result);
int cublasLtMatmul(void* handle, void* operation, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                   void* d, void* d_layout, const void* algorithm, void* workspace,
                   std::size_t workspace_bytes, void* stream);
}

#pragma GCC visibility pop
