// SPDX-License-Identifier: Apache-2.0
// Calls of cuBLAS with random arguments.
#pragma once

#include <cublasLt.h>
#include <cublas_v2.h>

#include <string>

#include "tests/gpu/blas/device_matrix.hpp"

namespace autotune::gpu_blas {

enum class Function { sgemm, sgemm_strided_batched, gemm_ex, gemm_strided_batched_ex, lt_matmul };

/// What a program would call a shape: all of this repeats from call to call.
struct Shape {
  Function function = Function::sgemm;
  cublasOperation_t op_a = CUBLAS_OP_N, op_b = CUBLAS_OP_N;
  int m = 1, n = 1, k = 1, batch = 1;
  cudaDataType_t input = CUDA_R_32F, output = CUDA_R_32F;
  float alpha = 1, beta = 0;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;

  explicit Shape(Random& random);
  std::string text() const;
};

/// One call of a shape: its matrices and how it is made.
struct Call {
  Shape shape;
  DeviceMatrix a, b, c, d, bias;  // D of cublasLtMatmul; all others write into C
  bool has_device_scalars, is_captured;

  Call(const Shape& of, Random& random);
  bool is_in_place() const { return shape.function != Function::lt_matmul; }
  const DeviceMatrix& result() const { return is_in_place() ? c : d; }
};

/// What a thread calls cuBLAS with.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Makes the call, on either stream, and waits for it. Throws if CUDA or cuBLAS refuses.
  void make(const Call& call, int stream);
  cublasHandle_t handle() const { return handle_; }

 private:
  void enqueue(const Call& call, cudaStream_t stream);
  void enqueue_lt(const Call& call, const void* alpha, const void* beta, cudaStream_t stream);

  cublasHandle_t handle_ = nullptr;
  cublasLtHandle_t lt_handle_ = nullptr;
  cudaStream_t streams_[2] = {};
  float* scalars_ = nullptr;  // on the device
};

}  // namespace autotune::gpu_blas
