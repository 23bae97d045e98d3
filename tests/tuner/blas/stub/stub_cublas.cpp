// SPDX-License-Identifier: Apache-2.0
#include "tests/tuner/blas/stub/stub_cublas.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <utility>

namespace stub {
namespace {

std::atomic<std::uint64_t> calls{0};
std::atomic<bool> multiplies{true};

struct UserObject {
  void (*at_end)(void*);
  void* argument;
};
std::multimap<std::uint64_t, std::unique_ptr<UserObject>>
    user_objects;  // of graphs, by the numbers of captures

struct Operand {
  const float* at;
  bool is_transposed;
  std::int64_t leading, stride;

  double value(std::int64_t row, std::int64_t column, std::int64_t product) const {
    const std::int64_t place = is_transposed ? column + row * leading : row + column * leading;
    return at[place + product * stride];
  }
};

struct Product {
  std::int64_t m, n, k, batch;
  Operand a, b, c;
  float* d;
  std::int64_t ldd, stride_d;
  int epilogue = 1;
  const float* bias = nullptr;
};

float scalar(const void* value) { return value ? *static_cast<const float*>(value) : 0; }

/// Epilogues are sums of 2 (ReLU) or 32 (GELU) and 4 (bias).
double finished(const Product& p, double value, std::int64_t row) {
  if (p.epilogue & 4) value += p.bias[row];
  if (p.epilogue & 2) value = std::max(value, 0.0);
  if ((p.epilogue & 32) == 0) return value;
  return 0.5 * value *
         (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * std::pow(value, 3))));
}

/// D = alpha A B + beta C, summed in double. C is not read where beta is 0.
int multiply(const Product& p, const void* alpha, const void* beta) {
  ++calls;
  if (!multiplies) return 0;
  for (std::int64_t product = 0; product < p.batch; ++product) {
    for (std::int64_t i = 0; i < p.m * p.n; ++i) {
      const std::int64_t row = i % p.m, column = i / p.m;
      double sum = 0;
      for (std::int64_t at = 0; at < p.k; ++at) {
        sum += p.a.value(row, at, product) * p.b.value(at, column, product);
      }
      sum *= scalar(alpha);
      if (scalar(beta) != 0) sum += scalar(beta) * p.c.value(row, column, product);
      p.d[row + column * p.ldd + product * p.stride_d] = static_cast<float>(finished(p, sum, row));
    }
  }
  return 0;
}

template <class T>
int copy_out(const T& value, void* to, std::size_t bytes, std::size_t* written) {
  *written = sizeof value;
  if (bytes == 0) return 0;             // the size was asked for
  if (bytes != sizeof value) return 7;  // CUBLAS_STATUS_INVALID_VALUE
  std::memcpy(to, &value, sizeof value);
  return 0;
}

const float* floats(const void* address) { return static_cast<const float*>(address); }

}  // namespace

extern "C" std::uint64_t stub_calls() { return calls; }
extern "C" void stub_multiply(bool does) { multiplies = does; }
extern "C" void stub_destroy_graph(std::uint64_t capture) {
  const auto [first, last] = user_objects.equal_range(capture);
  for (auto one = first; one != last; ++one) one->second->at_end(one->second->argument);
  user_objects.erase(first, last);
}

}  // namespace stub

using namespace stub;

#pragma GCC visibility push(default)

extern "C" {

int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = static_cast<HandleState*>(handle)->pointer_mode;
  return 0;
}
int cublasGetMathMode(void* handle, int* mode) {
  *mode = static_cast<HandleState*>(handle)->math_mode;
  return 0;
}
int cublasGetSmCountTarget(void* handle, int* count) {
  *count = static_cast<HandleState*>(handle)->sm_count_target;
  return 0;
}
int cublasGetStream_v2(void* handle, void** stream) {
  *stream = static_cast<HandleState*>(handle)->stream;
  return 0;
}

int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuDeviceGetName(char* name, int, int) {
  std::strcpy(name, "Fake GPU");
  return 0;
}
int cuStreamIsCapturing(void* stream, int* status) {
  const auto* const state = static_cast<StreamState*>(stream);
  *status = !state || !state->is_captured ? 0 : state->is_broken ? 2 : 1;
  return 0;
}
int cuStreamGetCaptureInfo_v2(void* stream, int* status, std::uint64_t* id, void** graph, void*,
                              void*) {
  *id = static_cast<StreamState*>(stream)->capture;
  if (graph) *graph = reinterpret_cast<void*>(*id);
  return cuStreamIsCapturing(stream, status);
}
int cuUserObjectCreate(void** object, void* argument, void (*at_end)(void*), unsigned, unsigned) {
  *object = new UserObject{at_end, argument};
  return 0;
}
int cuGraphRetainUserObject(void* graph, void* object, unsigned, unsigned) {
  std::unique_ptr<UserObject> owned(static_cast<UserObject*>(object));
  user_objects.emplace(reinterpret_cast<std::uint64_t>(graph), std::move(owned));
  return 0;
}
int cuThreadExchangeStreamCaptureMode(int*) { return 0; }

/// One product, or several at these distances.
#define STUB_PRODUCT(BATCH, STRIDE_A, STRIDE_B, STRIDE_C)                                         \
  Product {                                                                                       \
    m, n, k, BATCH, {floats(a), op_a != 0, lda, STRIDE_A}, {floats(b), op_b != 0, ldb, STRIDE_B}, \
        {floats(c), false, ldc, STRIDE_C}, static_cast<float*>(c), ldc, STRIDE_C                  \
  }
#define STUB_IS_OF_F32 (a_type == 0 && b_type == 0 && c_type == 0 && compute_type == 68)

#define STUB_DEFINE_SGEMM(NAME, INT) \
  STUB_SGEMM(NAME, INT) { return handle ? multiply(STUB_PRODUCT(1, 0, 0, 0), alpha, beta) : 1; }
STUB_DEFINE_SGEMM(cublasSgemm_v2, int)
STUB_DEFINE_SGEMM(cublasSgemm_v2_64, std::int64_t)

#define STUB_DEFINE_BATCHED_SGEMM(NAME, INT)                                                      \
  STUB_BATCHED_SGEMM(NAME, INT) {                                                                 \
    return handle ? multiply(STUB_PRODUCT(batch, stride_a, stride_b, stride_c), alpha, beta) : 1; \
  }
STUB_DEFINE_BATCHED_SGEMM(cublasSgemmStridedBatched, int)
STUB_DEFINE_BATCHED_SGEMM(cublasSgemmStridedBatched_64, std::int64_t)

#define STUB_DEFINE_GEMM_EX(NAME, INT)                                         \
  STUB_GEMM_EX(NAME, INT) {                                                    \
    static_cast<void>(algorithm);                                              \
    if (!STUB_IS_OF_F32) return ++calls, 0;                                    \
    return multiply(STUB_PRODUCT(1, 0, 0, 0), alpha, handle ? beta : nullptr); \
  }
STUB_DEFINE_GEMM_EX(cublasGemmEx, int)
STUB_DEFINE_GEMM_EX(cublasGemmEx_64, std::int64_t)

#define STUB_DEFINE_BATCHED_GEMM_EX(NAME, INT)                                \
  STUB_BATCHED_GEMM_EX(NAME, INT) {                                           \
    static_cast<void>(algorithm);                                             \
    if (!STUB_IS_OF_F32) return ++calls, 0;                                   \
    return multiply(STUB_PRODUCT(batch, stride_a, stride_b, stride_c), alpha, \
                    handle ? beta : nullptr);                                 \
  }
STUB_DEFINE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx, int)
STUB_DEFINE_BATCHED_GEMM_EX(cublasGemmStridedBatchedEx_64, std::int64_t)

// Nobody looks at the arguments of these.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
STUB_SGEMM_OF_POINTERS(cublasSgemmBatched, int) { return ++calls, 0; }
STUB_SGEMM_OF_POINTERS(cublasSgemmBatched_64, std::int64_t) { return ++calls, 0; }
STUB_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx, int) { return ++calls, 0; }
STUB_GEMM_EX_OF_POINTERS(cublasGemmBatchedEx_64, std::int64_t) { return ++calls, 0; }
STUB_GROUPED_SGEMM(cublasSgemmGroupedBatched, int) { return ++calls, 0; }
STUB_GROUPED_SGEMM(cublasSgemmGroupedBatched_64, std::int64_t) { return ++calls, 0; }
STUB_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx, int) { return ++calls, 0; }
STUB_GROUPED_GEMM_EX(cublasGemmGroupedBatchedEx_64, std::int64_t) { return ++calls, 0; }
#pragma GCC diagnostic pop

int cublasLtMatmulDescCreate(void** descriptor, int compute_type, int scale_type) {
  auto* const made = new Operation;
  made->compute_type = compute_type, made->scale_type = scale_type;
  *descriptor = made;
  return 0;
}
int cublasLtMatmulDescDestroy(void* descriptor) {
  delete static_cast<Operation*>(descriptor);
  return 0;
}
int cublasLtMatrixLayoutCreate(void** descriptor, int type, std::uint64_t rows,
                               std::uint64_t columns, std::int64_t leading) {
  auto* const made = new Layout;
  made->type = type, made->leading = leading;
  made->rows = static_cast<std::int64_t>(rows), made->columns = static_cast<std::int64_t>(columns);
  *descriptor = made;
  return 0;
}
int cublasLtMatrixLayoutDestroy(void* descriptor) {
  delete static_cast<Layout*>(descriptor);
  return 0;
}

#define STUB_ATTRIBUTE(NUMBER, MEMBER) \
  if (attribute == (NUMBER)) return copy_out(held.MEMBER, to, bytes, written);

int cublasLtMatmulDescGetAttribute(void* descriptor, int attribute, void* to, std::size_t bytes,
                                   std::size_t* written) {
  const auto& held = *static_cast<const Operation*>(descriptor);
  STUB_ATTRIBUTE(0, compute_type)
  STUB_ATTRIBUTE(1, scale_type)
  STUB_ATTRIBUTE(2, pointer_mode)
  STUB_ATTRIBUTE(3, op_a)
  STUB_ATTRIBUTE(4, op_b)
  STUB_ATTRIBUTE(5, op_c)
  STUB_ATTRIBUTE(7, epilogue)
  STUB_ATTRIBUTE(8, bias)
  STUB_ATTRIBUTE(15, sm_count_target)
  STUB_ATTRIBUTE(17, a_scale)
  STUB_ATTRIBUTE(18, b_scale)
  STUB_ATTRIBUTE(21, amax_d)
  STUB_ATTRIBUTE(25, fast_sums)
  STUB_ATTRIBUTE(26, bias_type)
  STUB_ATTRIBUTE(31, a_scale_mode)
  STUB_ATTRIBUTE(32, b_scale_mode)
  STUB_ATTRIBUTE(40, newest)
  return 7;
}

int cublasLtMatrixLayoutGetAttribute(void* descriptor, int attribute, void* to, std::size_t bytes,
                                     std::size_t* written) {
  const auto& held = *static_cast<const Layout*>(descriptor);
  STUB_ATTRIBUTE(0, type)
  STUB_ATTRIBUTE(1, order)
  STUB_ATTRIBUTE(2, rows)
  STUB_ATTRIBUTE(3, columns)
  STUB_ATTRIBUTE(4, leading)
  STUB_ATTRIBUTE(5, batch)
  STUB_ATTRIBUTE(6, stride)
  STUB_ATTRIBUTE(7, plane_offset)
  STUB_ATTRIBUTE(8, batch_mode)
  STUB_ATTRIBUTE(9, newest)
  return 7;
}

int cublasLtMatmulAlgoCheck(void*, void*, void*, void*, void*, void*, const void* algorithm,
                            void* result) {
  const auto& checked = *static_cast<const Algorithm*>(algorithm);
  const auto bytes = static_cast<std::size_t>(checked.workspace_bytes);
  std::memcpy(static_cast<std::byte*>(result) + sizeof checked, &bytes, sizeof bytes);
  return checked.number < 2 ? 0 : 15;
}

int cublasLtMatmul(void*, void* descriptor, const void* alpha, const void* a, void* a_layout,
                   const void* b, void* b_layout, const void* beta, const void* c, void* c_layout,
                   void* d, void* d_layout, const void*, void*, std::size_t, void*) {
  const auto& operation = *static_cast<const Operation*>(descriptor);
  const auto& la = *static_cast<const Layout*>(a_layout);
  const auto& lb = *static_cast<const Layout*>(b_layout);
  const auto& lc = *static_cast<const Layout*>(c_layout);
  const auto& ld = *static_cast<const Layout*>(d_layout);
  return multiply({ld.rows,
                   ld.columns,
                   operation.op_a == 0 ? la.columns : la.rows,
                   ld.batch,
                   {floats(a), operation.op_a != 0, la.leading, la.stride},
                   {floats(b), operation.op_b != 0, lb.leading, lb.stride},
                   {floats(c), false, lc.leading, lc.stride},
                   static_cast<float*>(d),
                   ld.leading,
                   ld.stride,
                   operation.epilogue,
                   operation.bias},
                  alpha, beta);
}

}  // extern "C"

#pragma GCC visibility pop
