// SPDX-License-Identifier: Apache-2.0
// A call of cublasLtMatmul: its shape is in descriptors, which only cublasLt reads.
#pragma once

#include "tuner/blas/call_server.hpp"

namespace autotune::blas {

/// The descriptors of a call, the addresses of its scalars, and those of its matrices.
struct LtCall {
  void* operation;
  void* a;
  void* b;
  void* c;
  void* d;
  const void* alpha;
  const void* beta;
  CallValues values;
  Stream stream;
};

/// True if a tuned kernel was launched. What is not read is of a kind that is passed on. The
/// operation takes up to nine calls of cublasLt. The layouts take 28, unless a call had the same
/// contents before: then their bytes are compared.
bool serve(const LtCall& lt) noexcept;

}  // namespace autotune::blas
