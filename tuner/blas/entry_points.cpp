// SPDX-License-Identifier: Apache-2.0
// cuBLAS's functions, in front of the vendor's. No exception leaves them.
#include "tuner/blas/call_server.hpp"
#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/lt_call.hpp"
#include "tuner/blas/options.hpp"
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
  if (!before) end_vendor_call(status == kSuccess);
  return status;
}

/// Sizes and strides of C = alpha op(A) op(B) + beta C, as its arguments have them. A batch without
/// strides has an address for each matrix.
CallShape shape_of(Function function, int op_a, int op_b, std::int64_t m, std::int64_t n,
                   std::int64_t k, std::int64_t lda, std::int64_t ldb, std::int64_t ldc,
                   std::int64_t batch = 1, std::int64_t stride_a = 0, std::int64_t stride_b = 0,
                   std::int64_t stride_c = 0) {
  CallShape shape;
  shape.function = function;
  shape.op_a = operation_of(op_a), shape.op_b = operation_of(op_b);
  shape.m = m, shape.n = n, shape.k = k, shape.batch = batch;
  shape.lda = lda, shape.ldb = ldb, shape.ldc = shape.ldd = ldc;
  shape.stride_a = stride_a, shape.stride_b = stride_b;
  shape.stride_c = shape.stride_d = stride_c;
  shape.epilogue = kNoEpilogue;
  return shape;
}

struct Types {
  int a = kF32, b = kF32, c = kF32, compute = kComputeF32, algorithm = -1;
};

/// Why no kernel serves the call, if the other members of a CallShape do not show it.
Outcome obstacle_of(const CallShape& shape, const HandleState& state, const CallValues& values,
                    const Types& types) {
  if (shape.obstacle != Outcome::served) return shape.obstacle;
  if (state.sm_count_target != 0) return Outcome::settings;
  const bool is_valid = has_addresses(values) && is_algorithm(types.algorithm);
  return is_valid ? Outcome::served : Outcome::empty;
}

bool served(const Caller& caller, BlasHandle handle, CallShape shape, const void* alpha,
            const void* a, const void* b, const void* beta, void* c,
            const Types& types = {}) noexcept try {
  if (is_in_vendor || !caller.vendor || caller.is_plugin || !handle) return false;
  const HandleState state = state_of(*caller.vendor, handle);
  shape.a_type = types.a, shape.b_type = types.b, shape.c_type = shape.d_type = types.c;
  shape.compute_type = types.compute;
  shape.math_mode = state.math_mode;
  Call call{{a, b, c, c}, caller.vendor, handle};
  const int pointer_mode = types.compute == kComputeF32 ? state.pointer_mode : -1;
  shape.scale = take_scalars(call.values, pointer_mode, alpha, beta);
  shape.alignment = alignment_of(call.values);
  shape.obstacle = obstacle_of(shape, state, call.values, types);
  return serve(entry_of(shape), call);
} catch (...) {  // memory is short
  return false;
}

/// Counts a batch whose matrices are in arrays of addresses, which no kernel takes.
void count_pointers(const Caller& caller, BlasHandle handle, CallShape shape, const void* alpha,
                    const void* beta, const Types& types = {}) noexcept {
  shape.obstacle = Outcome::pointers;
  if (options().counts()) {
    served(caller, handle, shape, alpha, nullptr, nullptr, beta, nullptr, types);
  }
}

/// The arguments of a grouped call: an element for each group.
template <class Int>
struct Groups {
  Function function;
  const int *op_a, *op_b;
  const Int *m, *n, *k, *lda, *ldb, *ldc;
  Int count;
  const Int* sizes;

  bool are_given() const { return op_a && op_b && m && n && k && lda && ldb && ldc && sizes; }
};

/// Counts each group as a batch.
template <class Int>
void count_groups(const Caller& caller, BlasHandle handle, const Groups<Int>& g, const void* alphas,
                  const void* betas, const Types& types = {}) noexcept {
  if (!options().counts() || !g.are_given()) return;
  const auto scalar = [](const void* scalars, Int i) -> const void* {
    return scalars ? static_cast<const float*>(scalars) + i : nullptr;
  };
  for (Int i = 0; i < g.count; ++i) {
    const CallShape group = shape_of(g.function, g.op_a[i], g.op_b[i], g.m[i], g.n[i], g.k[i],
                                     g.lda[i], g.ldb[i], g.ldc[i], g.sizes[i]);
    count_pointers(caller, handle, group, scalar(alphas, i), scalar(betas, i), types);
  }
}

/// Writes reports and files at the end of the program.
[[gnu::destructor]] void at_exit() { finish(); }

}  // namespace

#define AUTOTUNE_TAKEN extern "C" [[gnu::visibility("default")]]
#define AUTOTUNE_CALLER(PART) caller_at(__builtin_return_address(0), Part::PART)
#define AUTOTUNE_VENDOR(NAME) caller.function<decltype(NAME)>(vendor_function(#NAME))
// cublasNAME and cublasNAME_64 differ only in the type of sizes.
#define AUTOTUNE_TAKE_SGEMM(NAME, INT)                                                             \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const float* alpha, const float* a, INT lda, const float* b, INT ldb, \
                             const float* beta, float* c, INT ldc) {                               \
    const CallShape shape = shape_of(Function::sgemm, op_a, op_b, m, n, k, lda, ldb, ldc);         \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                   \
    if (served(caller, handle, shape, alpha, a, b, beta, c)) return kSuccess;                      \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb,      \
                   beta, c, ldc);                                                                  \
  }
AUTOTUNE_TAKE_SGEMM(cublasSgemm_v2, int)
AUTOTUNE_TAKE_SGEMM(cublasSgemm_v2_64, std::int64_t)

#define AUTOTUNE_TAKE_BATCHED_SGEMM(NAME, INT)                                                     \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const float* alpha, const float* a, INT lda, long long stride_a,      \
                             const float* b, INT ldb, long long stride_b, const float* beta,       \
                             float* c, INT ldc, long long stride_c, INT batch) {                   \
    const CallShape shape = shape_of(Function::sgemm_strided_batched, op_a, op_b, m, n, k, lda,    \
                                     ldb, ldc, batch, stride_a, stride_b, stride_c);               \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                   \
    if (served(caller, handle, shape, alpha, a, b, beta, c)) return kSuccess;                      \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, \
                   ldb, stride_b, beta, c, ldc, stride_c, batch);                                  \
  }
AUTOTUNE_TAKE_BATCHED_SGEMM(cublasSgemmStridedBatched, int)
AUTOTUNE_TAKE_BATCHED_SGEMM(cublasSgemmStridedBatched_64, std::int64_t)

#define AUTOTUNE_TAKE_GEMM_EX(NAME, INT)                                                           \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,           \
                             const void* alpha, const void* a, int a_type, INT lda, const void* b, \
                             int b_type, INT ldb, const void* beta, void* c, int c_type, INT ldc,  \
                             int compute_type, int algorithm) {                                    \
    const CallShape shape = shape_of(Function::gemm_ex, op_a, op_b, m, n, k, lda, ldb, ldc);       \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                   \
    const Types types{a_type, b_type, c_type, compute_type, algorithm};                            \
    if (served(caller, handle, shape, alpha, a, b, beta, c, types)) return kSuccess;               \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b,   \
                   b_type, ldb, beta, c, c_type, ldc, compute_type, algorithm);                    \
  }
AUTOTUNE_TAKE_GEMM_EX(cublasGemmEx, int)
AUTOTUNE_TAKE_GEMM_EX(cublasGemmEx_64, std::int64_t)

#define AUTOTUNE_TAKE_BATCHED_GEMM_EX(NAME, INT)                                                  \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,          \
                             const void* alpha, const void* a, int a_type, INT lda,               \
                             long long stride_a, const void* b, int b_type, INT ldb,              \
                             long long stride_b, const void* beta, void* c, int c_type, INT ldc,  \
                             long long stride_c, INT batch, int compute_type, int algorithm) {    \
    const CallShape shape = shape_of(Function::gemm_strided_batched_ex, op_a, op_b, m, n, k, lda, \
                                     ldb, ldc, batch, stride_a, stride_b, stride_c);              \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                  \
    const Types types{a_type, b_type, c_type, compute_type, algorithm};                           \
    if (served(caller, handle, shape, alpha, a, b, beta, c, types)) return kSuccess;              \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, a_type, lda,     \
                   stride_a, b, b_type, ldb, stride_b, beta, c, c_type, ldc, stride_c, batch,     \
                   compute_type, algorithm);                                                      \
  }
AUTOTUNE_TAKE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx, int)
AUTOTUNE_TAKE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

// Batches whose matrices are in arrays of addresses are counted, and passed on.
#define AUTOTUNE_TAKE_SGEMM_OF_POINTERS(NAME, INT)                                               \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,         \
                             const float* alpha, const float* const* a, INT lda,                 \
                             const float* const* b, INT ldb, const float* beta, float* const* c, \
                             INT ldc, INT batch) {                                               \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                 \
    const CallShape shape =                                                                      \
        shape_of(Function::sgemm_batched, op_a, op_b, m, n, k, lda, ldb, ldc, batch);            \
    count_pointers(caller, handle, shape, alpha, beta);                                          \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb,    \
                   beta, c, ldc, batch);                                                         \
  }
AUTOTUNE_TAKE_SGEMM_OF_POINTERS(cublasSgemmBatched, int)
AUTOTUNE_TAKE_SGEMM_OF_POINTERS(cublasSgemmBatched_64, std::int64_t)

#define AUTOTUNE_TAKE_GEMM_EX_OF_POINTERS(NAME, INT)                                             \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, int op_a, int op_b, INT m, INT n, INT k,         \
                             const void* alpha, const void* const* a, int a_type, INT lda,       \
                             const void* const* b, int b_type, INT ldb, const void* beta,        \
                             void* const* c, int c_type, INT ldc, INT batch, int compute_type,   \
                             int algorithm) {                                                    \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                 \
    const CallShape shape =                                                                      \
        shape_of(Function::gemm_batched_ex, op_a, op_b, m, n, k, lda, ldb, ldc, batch);          \
    count_pointers(caller, handle, shape, alpha, beta, {a_type, b_type, c_type, compute_type});  \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b, \
                   b_type, ldb, beta, c, c_type, ldc, batch, compute_type, algorithm);           \
  }
AUTOTUNE_TAKE_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx, int)
AUTOTUNE_TAKE_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx_64, std::int64_t)

#define AUTOTUNE_TAKE_GROUPED_SGEMM(NAME, INT)                                                   \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, const int* op_a, const int* op_b, const INT* m,  \
                             const INT* n, const INT* k, const float* alpha,                     \
                             const float* const* a, const INT* lda, const float* const* b,       \
                             const INT* ldb, const float* beta, float* const* c, const INT* ldc, \
                             INT groups, const INT* sizes) {                                     \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                 \
    const Groups<INT> all{                                                                       \
        Function::sgemm_grouped_batched, op_a, op_b, m, n, k, lda, ldb, ldc, groups, sizes};     \
    count_groups(caller, handle, all, alpha, beta);                                              \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, lda, b, ldb,    \
                   beta, c, ldc, groups, sizes);                                                 \
  }
AUTOTUNE_TAKE_GROUPED_SGEMM(cublasSgemmGroupedBatched, int)
AUTOTUNE_TAKE_GROUPED_SGEMM(cublasSgemmGroupedBatched_64, std::int64_t)

#define AUTOTUNE_TAKE_GROUPED_GEMM_EX(NAME, INT)                                                  \
  AUTOTUNE_TAKEN Status NAME(BlasHandle handle, const int* op_a, const int* op_b, const INT* m,   \
                             const INT* n, const INT* k, const void* alpha, const void* const* a, \
                             int a_type, const INT* lda, const void* const* b, int b_type,        \
                             const INT* ldb, const void* beta, void* const* c, int c_type,        \
                             const INT* ldc, INT groups, const INT* sizes, int compute_type) {    \
    const Caller caller = AUTOTUNE_CALLER(blas);                                                  \
    const Groups<INT> all{                                                                        \
        Function::gemm_grouped_batched_ex, op_a, op_b, m, n, k, lda, ldb, ldc, groups, sizes};    \
    count_groups(caller, handle, all, alpha, beta, {a_type, b_type, c_type, compute_type});       \
    return pass_on(AUTOTUNE_VENDOR(NAME), handle, op_a, op_b, m, n, k, alpha, a, a_type, lda, b,  \
                   b_type, ldb, beta, c, c_type, ldc, groups, sizes, compute_type);               \
  }
AUTOTUNE_TAKE_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx, int)
AUTOTUNE_TAKE_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx_64, std::int64_t)

AUTOTUNE_TAKEN Status cublasLtMatmul(BlasHandle handle, void* operation, const void* alpha,
                                     const void* a, void* a_layout, const void* b, void* b_layout,
                                     const void* beta, const void* c, void* c_layout, void* d,
                                     void* d_layout, const void* algorithm, void* workspace,
                                     std::size_t workspace_bytes, Stream stream) {
  const Caller caller = AUTOTUNE_CALLER(lt);
  if (!is_in_vendor && caller.vendor && !caller.is_plugin) {
    const LtCall lt{handle,       operation, a_layout,  b_layout,
                    c_layout,     d_layout,  alpha,     beta,
                    {a, b, c, d}, stream,    algorithm, workspace ? workspace_bytes : 0};
    if (serve(*caller.vendor, lt)) return kSuccess;
  }
  return pass_on(AUTOTUNE_VENDOR(cublasLtMatmul), handle, operation, alpha, a, a_layout, b,
                 b_layout, beta, c, c_layout, d, d_layout, algorithm, workspace, workspace_bytes,
                 stream);
}
