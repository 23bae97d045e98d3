// SPDX-License-Identifier: Apache-2.0
// cuBLAS's functions, in front of the vendor's. No exception leaves them.
#include "tuner/blas/call_server.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/lt_call.hpp"
#include "tuner/blas/vendor_library.hpp"

using namespace autotune::blas;

namespace {

/// cuBLAS may call these functions itself. Such calls are passed on.
thread_local bool is_in_vendor [[gnu::tls_model("initial-exec")]] = false;

template <class... Arguments>
Status pass_on(Status (*vendor)(Arguments...), Arguments... arguments) {
  if (!vendor) return kNotInitialized;
  const bool before = is_in_vendor;
  is_in_vendor = true;
  const Status status = vendor(arguments...);
  is_in_vendor = before;
  return status;
}

/// Sizes and strides of C = alpha op(A) op(B) + beta C, as its arguments have them.
struct Shape {
  Function function;
  int op_a, op_b;
  std::int64_t m, n, k, lda, ldb, ldc;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0, batch = 1;
};

struct Types {
  int a = kF32, b = kF32, c = kF32, compute = kComputeF32;
};

CallShape call_shape_of(const Shape& s, const Types& types, int math_mode) {
  CallShape shape;
  shape.function = s.function;
  shape.op_a = static_cast<std::uint8_t>(s.op_a);
  shape.op_b = static_cast<std::uint8_t>(s.op_b);
  shape.m = s.m, shape.n = s.n, shape.k = s.k, shape.batch = s.batch;
  shape.lda = s.lda, shape.ldb = s.ldb, shape.ldc = shape.ldd = s.ldc;
  shape.stride_a = s.stride_a, shape.stride_b = s.stride_b;
  shape.stride_c = shape.stride_d = s.stride_c;
  shape.a_type = types.a, shape.b_type = types.b, shape.c_type = shape.d_type = types.c;
  shape.compute_type = types.compute;
  shape.math_mode = math_mode;
  shape.epilogue = kNoEpilogue;
  return shape;
}

bool served(BlasHandle handle, const Shape& shape, const void* alpha, const void* a, const void* b,
            const void* beta, void* c, const Types& types = {}) noexcept try {
  if (is_in_vendor || !handle) return false;
  const HandleState state = state_of(handle);
  CallShape called = call_shape_of(shape, types, state.math_mode);
  Call call{{a, b, c, c}, handle};
  const int pointer_mode = types.compute == kComputeF32 ? state.pointer_mode : -1;
  called.scale = take_scalars(call.values, pointer_mode, alpha, beta);
  called.alignment = alignment_of(call.values);
  return serve(entry_of(called), call);
} catch (...) {  // memory is short
  return false;
}

/// Writes reports and files at the end of the program.
[[gnu::destructor]] void at_exit() { finish(); }

}  // namespace

#define AUTOTUNE_TAKEN extern "C" [[gnu::visibility("default")]]
// cublasNAME and cublasNAME_64 differ only in the type of sizes.
#define AUTOTUNE_TAKE_SGEMM(NAME, INT)                                                             \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const float* alpha, const float* a, INT lda, const float* b, INT ldb, \
                             const float* beta, float* c, INT ldc) {                               \
    const Shape shape{Function::sgemm, op_a, op_b, m, n, k, lda, ldb, ldc};                        \
    if (served(handle, shape, alpha, a, b, beta, c)) return kSuccess;                              \
    static auto* const vendor = vendor_function<decltype(NAME)>(#NAME);                            \
    return pass_on(vendor, handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);      \
  }
AUTOTUNE_TAKE_SGEMM(cublasSgemm_v2, int)
AUTOTUNE_TAKE_SGEMM(cublasSgemm_v2_64, std::int64_t)

#define AUTOTUNE_TAKE_BATCHED_SGEMM(NAME, INT)                                                     \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const float* alpha, const float* a, INT lda, long long stride_a,      \
                             const float* b, INT ldb, long long stride_b, const float* beta,       \
                             float* c, INT ldc, long long stride_c, INT batch) {                   \
    const Shape shape{Function::sgemm_strided_batched,                                             \
                      op_a,                                                                        \
                      op_b,                                                                        \
                      m,                                                                           \
                      n,                                                                           \
                      k,                                                                           \
                      lda,                                                                         \
                      ldb,                                                                         \
                      ldc,                                                                         \
                      stride_a,                                                                    \
                      stride_b,                                                                    \
                      stride_c,                                                                    \
                      batch};                                                                      \
    if (served(handle, shape, alpha, a, b, beta, c)) return kSuccess;                              \
    static auto* const vendor = vendor_function<decltype(NAME)>(#NAME);                            \
    return pass_on(vendor, handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, \
                   beta, c, ldc, stride_c, batch);                                                 \
  }
AUTOTUNE_TAKE_BATCHED_SGEMM(cublasSgemmStridedBatched, int)
AUTOTUNE_TAKE_BATCHED_SGEMM(cublasSgemmStridedBatched_64, std::int64_t)

#define AUTOTUNE_TAKE_GEMM_EX(NAME, INT)                                                           \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const void* alpha, const void* a, int a_type, INT lda, const void* b, \
                             int b_type, INT ldb, const void* beta, void* c, int c_type, INT ldc,  \
                             int compute_type, int algorithm) {                                    \
    const Shape shape{Function::gemm_ex, op_a, op_b, m, n, k, lda, ldb, ldc};                      \
    if (served(handle, shape, alpha, a, b, beta, c, {a_type, b_type, c_type, compute_type})) {     \
      return kSuccess;                                                                             \
    }                                                                                              \
    static auto* const vendor = vendor_function<decltype(NAME)>(#NAME);                            \
    return pass_on(vendor, handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, b_type, ldb,     \
                   beta, c, c_type, ldc, compute_type, algorithm);                                 \
  }
AUTOTUNE_TAKE_GEMM_EX(cublasGemmEx, int)
AUTOTUNE_TAKE_GEMM_EX(cublasGemmEx_64, std::int64_t)

#define AUTOTUNE_TAKE_BATCHED_GEMM_EX(NAME, INT)                                                 \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,         \
                             const void* alpha, const void* a, int a_type, INT lda,              \
                             long long stride_a, const void* b, int b_type, INT ldb,             \
                             long long stride_b, const void* beta, void* c, int c_type, INT ldc, \
                             long long stride_c, INT batch, int compute_type, int algorithm) {   \
    const Shape shape{Function::gemm_strided_batched_ex,                                         \
                      op_a,                                                                      \
                      op_b,                                                                      \
                      m,                                                                         \
                      n,                                                                         \
                      k,                                                                         \
                      lda,                                                                       \
                      ldb,                                                                       \
                      ldc,                                                                       \
                      stride_a,                                                                  \
                      stride_b,                                                                  \
                      stride_c,                                                                  \
                      batch};                                                                    \
    if (served(handle, shape, alpha, a, b, beta, c, {a_type, b_type, c_type, compute_type})) {   \
      return kSuccess;                                                                           \
    }                                                                                            \
    static auto* const vendor = vendor_function<decltype(NAME)>(#NAME);                          \
    return pass_on(vendor, handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, stride_a, b,      \
                   b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c, batch, compute_type,   \
                   algorithm);                                                                   \
  }
AUTOTUNE_TAKE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx, int)
AUTOTUNE_TAKE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

AUTOTUNE_TAKEN Status cublasLtMatmul(BlasHandle handle, void* operation, const void* alpha,
                                     const void* a, void* a_layout, const void* b, void* b_layout,
                                     const void* beta, const void* c, void* c_layout, void* d,
                                     void* d_layout, const void* algorithm, void* workspace,
                                     std::size_t workspace_bytes, Stream stream) {
  if (!is_in_vendor) {
    const LtCall lt{operation, a_layout, b_layout,     c_layout, d_layout,
                    alpha,     beta,     {a, b, c, d}, stream};
    if (serve(lt)) return kSuccess;
  }
  static auto* const vendor = vendor_function<decltype(cublasLtMatmul)>("cublasLtMatmul");
  return pass_on(vendor, handle, operation, alpha, a, a_layout, b, b_layout, beta, c, c_layout, d,
                 d_layout, algorithm, workspace, workspace_bytes, stream);
}
