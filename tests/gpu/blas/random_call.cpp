// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/blas/random_call.hpp"

#include <array>
#include <exception>
#include <stdexcept>

#include "tuner/text/format.hpp"

namespace autotune::gpu_blas {
namespace {

constexpr std::array<int, 10> kSizes{1, 24, 64, 100, 128, 200, 256, 384, 512, 513};

int any_size(Random& random) {
  return kSizes[static_cast<std::size_t>(pick(random, 0, static_cast<int>(kSizes.size()) - 1))];
}

cublasLtEpilogue_t any_epilogue(Random& random) {
  constexpr std::array kEpilogues{CUBLASLT_EPILOGUE_DEFAULT,   CUBLASLT_EPILOGUE_DEFAULT,
                                  CUBLASLT_EPILOGUE_RELU,      CUBLASLT_EPILOGUE_BIAS,
                                  CUBLASLT_EPILOGUE_RELU_BIAS, CUBLASLT_EPILOGUE_GELU_BIAS};
  return kEpilogues[static_cast<std::size_t>(pick(random, 0, kEpilogues.size() - 1))];
}

bool may_be_half(Function function) {
  return function != Function::sgemm && function != Function::sgemm_strided_batched;
}

bool may_be_batched(Function function) {
  return function != Function::sgemm && function != Function::gemm_ex;
}

Extent extent_of(Random& random, const Shape& s, int rows, int columns, cudaDataType_t type) {
  Extent extent{rows, columns, s.batch, 0, 0, 0, type};
  extent.padding = pick(random, 0, 2) == 0 ? 8 * pick(random, 0, 2) + pick(random, 0, 1) * 3 : 0;
  if (s.batch > 1 && pick(random, 0, 3) == 0) extent.gap = 16;
  // The heuristic of cublasLt takes addresses for aligned.
  if (s.function != Function::lt_matmul && pick(random, 0, 9) == 0) extent.misplaced = 1;
  return extent;
}

/// cublasLt (13.0) stores D as the leading dimension of C allows: where that of C is even and that
/// of D is odd, it stores pairs of 16-bit elements at odd places, and the context is lost.
Extent result_extent(Random& random, const Shape& s, const Extent& c) {
  const Extent extent = extent_of(random, s, s.m, s.n, s.output);
  return s.function == Function::lt_matmul && s.output != CUDA_R_32F ? c : extent;
}

/// op(A) is rows x columns.
DeviceMatrix operand(Random& random, const Shape& s, bool is_plain, int rows, int columns) {
  return {is_plain ? extent_of(random, s, rows, columns, s.input)
                   : extent_of(random, s, columns, rows, s.input),
          random};
}

/// cuBLAS promises not to read C where beta is 0.
DeviceMatrix addend(Random& random, const Shape& s) {
  const Extent extent = extent_of(random, s, s.m, s.n, s.output);
  return s.beta == 0 ? DeviceMatrix::poisoned(extent) : DeviceMatrix(extent, random);
}

struct Layout {
  explicit Layout(const DeviceMatrix& matrix) {
    const Extent& e = matrix.extent();
    check(cublasLtMatrixLayoutCreate(&layout, e.type, static_cast<std::uint64_t>(e.rows),
                                     static_cast<std::uint64_t>(e.columns), e.leading()),
          "cublasLtMatrixLayoutCreate");
    const std::int64_t stride = e.stride();
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, e.batch);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout); }
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  template <class Value>
  void set(cublasLtMatrixLayoutAttribute_t attribute, const Value& value) {
    check(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  }
  cublasLtMatrixLayout_t layout = nullptr;
};

struct Operation {
  Operation() {
    check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
  }
  ~Operation() { cublasLtMatmulDescDestroy(operation); }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }
  cublasLtMatmulDesc_t operation = nullptr;
};

bool has_bias(cublasLtEpilogue_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }

}  // namespace

Shape::Shape(Random& random)
    : function(static_cast<Function>(pick(random, 0, 4))),
      op_a(static_cast<cublasOperation_t>(pick(random, 0, 1))),
      op_b(static_cast<cublasOperation_t>(pick(random, 0, 1))),
      m(any_size(random)),
      n(any_size(random)),
      k(any_size(random)) {
  constexpr std::array kScales{1.0F, 1.0F, 1.0F, -0.75F, 0.0F};
  alpha = kScales[static_cast<std::size_t>(pick(random, 0, 9) == 0 ? 4 : pick(random, 0, 3))];
  beta = pick(random, 0, 2) == 0 ? 0.5F : 0.0F;
  if (may_be_batched(function) && pick(random, 0, 2) != 0) batch = pick(random, 2, 5);
  if (function == Function::sgemm_strided_batched && batch == 1) batch = 4;
  if (may_be_half(function) && pick(random, 0, 2) == 0) {
    input = pick(random, 0, 1) == 0 ? CUDA_R_16BF : CUDA_R_16F;
    output = pick(random, 0, 1) == 0 ? input : CUDA_R_32F;
  }
  if (function == Function::lt_matmul && batch == 1) epilogue = any_epilogue(random);
  if (pick(random, 0, 9) == 0) math = CUBLAS_PEDANTIC_MATH;
}

std::string Shape::text() const {
  return format(
      "function {} op {}{} m={} n={} k={} batch={} types {} {} alpha={} beta={} "
      "epilogue={}",
      static_cast<int>(function), static_cast<int>(op_a), static_cast<int>(op_b), m, n, k, batch,
      static_cast<int>(input), static_cast<int>(output), alpha, beta, static_cast<int>(epilogue));
}

Call::Call(const Shape& of, Random& random)
    : shape(of),
      a(operand(random, of, of.op_a == CUBLAS_OP_N, of.m, of.k)),
      b(operand(random, of, of.op_b == CUBLAS_OP_N, of.k, of.n)),
      c(addend(random, of)),
      d(DeviceMatrix::poisoned(result_extent(random, of, c.extent()))),
      bias(Extent{of.m, 1, 1, 0, 0, 0, of.output}, random),
      has_device_scalars(pick(random, 0, 9) == 0),
      is_captured(pick(random, 0, 9) == 0) {}

Session::Session() {
  check(cublasCreate(&handle_), "cublasCreate");
  check(cublasLtCreate(&lt_handle_), "cublasLtCreate");
  for (cudaStream_t& stream : streams_) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  void* memory = nullptr;
  check(cudaMalloc(&memory, 2 * sizeof(float)), "cudaMalloc");
  scalars_ = static_cast<float*>(memory);
}

Session::~Session() {
  cudaFree(scalars_);
  for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  cublasLtDestroy(lt_handle_);
  cublasDestroy(handle_);
}

void Session::make(const Call& call, int number) {
  cudaStream_t stream = streams_[number];
  const float scalars[] = {call.shape.alpha, call.shape.beta};
  check(cudaMemcpyAsync(scalars_, scalars, sizeof scalars, cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (!call.is_captured) {
    enqueue(call, stream);
  } else {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin of a capture");
    try {
      enqueue(call, stream);
    } catch (const std::exception& error) {
      // A capture that goes on would fail the thread's next call, too.
      const bool is_broken = cudaStreamEndCapture(stream, &graph) != cudaSuccess;
      if (graph) cudaGraphDestroy(graph);
      throw std::runtime_error(
          format("{}; its capture is {}", error.what(), is_broken ? "broken" : "whole"));
    }
    check(cudaStreamEndCapture(stream, &graph), "end of a capture");
    check(cudaGraphInstantiate(&ready, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphLaunch(ready, stream), "cudaGraphLaunch");
    check(cudaStreamSynchronize(stream), "cudaGraphLaunch");
    cudaGraphExecDestroy(ready);
    cudaGraphDestroy(graph);
  }
  check(cudaStreamSynchronize(stream), "the call");
}

void Session::enqueue(const Call& call, cudaStream_t stream) {
  const Shape& s = call.shape;
  const void* const alpha = call.has_device_scalars ? scalars_ : &s.alpha;
  const void* const beta = call.has_device_scalars ? scalars_ + 1 : &s.beta;
  if (s.function == Function::lt_matmul) return enqueue_lt(call, alpha, beta, stream);
  check(cublasSetStream(handle_, stream), "cublasSetStream");
  check(cublasSetMathMode(handle_, s.math), "cublasSetMathMode");
  check(cublasSetPointerMode(handle_, call.has_device_scalars ? CUBLAS_POINTER_MODE_DEVICE
                                                              : CUBLAS_POINTER_MODE_HOST),
        "cublasSetPointerMode");
  const Extent &ea = call.a.extent(), &eb = call.b.extent(), &ec = call.c.extent();
  const auto lda = static_cast<int>(ea.leading()), ldb = static_cast<int>(eb.leading()),
             ldc = static_cast<int>(ec.leading());
  const auto *fa = static_cast<const float*>(call.a.address()),
             *fb = static_cast<const float*>(call.b.address()),
             *f_alpha = static_cast<const float*>(alpha), *f_beta = static_cast<const float*>(beta);
  auto* const fc = static_cast<float*>(call.c.address());
  switch (s.function) {
    case Function::sgemm:
      return check(cublasSgemm(handle_, s.op_a, s.op_b, s.m, s.n, s.k, f_alpha, fa, lda, fb, ldb,
                               f_beta, fc, ldc),
                   "cublasSgemm");
    case Function::sgemm_strided_batched:
      return check(cublasSgemmStridedBatched(handle_, s.op_a, s.op_b, s.m, s.n, s.k, f_alpha, fa,
                                             lda, ea.stride(), fb, ldb, eb.stride(), f_beta, fc,
                                             ldc, ec.stride(), s.batch),
                   "cublasSgemmStridedBatched");
    case Function::gemm_ex:
      return check(
          cublasGemmEx(handle_, s.op_a, s.op_b, s.m, s.n, s.k, alpha, fa, s.input, lda, fb, s.input,
                       ldb, beta, fc, s.output, ldc, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
    default:
      return check(cublasGemmStridedBatchedEx(handle_, s.op_a, s.op_b, s.m, s.n, s.k, alpha, fa,
                                              s.input, lda, ea.stride(), fb, s.input, ldb,
                                              eb.stride(), beta, fc, s.output, ldc, ec.stride(),
                                              s.batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                   "cublasGemmStridedBatchedEx");
  }
}

void Session::enqueue_lt(const Call& call, const void* alpha, const void* beta,
                         cudaStream_t stream) {
  const Shape& s = call.shape;
  Operation operation;
  operation.set(CUBLASLT_MATMUL_DESC_TRANSA, s.op_a);
  operation.set(CUBLASLT_MATMUL_DESC_TRANSB, s.op_b);
  operation.set(CUBLASLT_MATMUL_DESC_EPILOGUE, s.epilogue);
  operation.set(CUBLASLT_MATMUL_DESC_POINTER_MODE, call.has_device_scalars
                                                       ? CUBLASLT_POINTER_MODE_DEVICE
                                                       : CUBLASLT_POINTER_MODE_HOST);
  if (has_bias(s.epilogue)) {
    const void* const bias = call.bias.address();
    operation.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const Layout a(call.a), b(call.b), c(call.c), d(call.d);
  check(cublasLtMatmul(lt_handle_, operation.operation, alpha, call.a.address(), a.layout,
                       call.b.address(), b.layout, beta, call.c.address(), c.layout,
                       call.d.address(), d.layout, nullptr, nullptr, 0, stream),
        "cublasLtMatmul");
}

}  // namespace autotune::gpu_blas
