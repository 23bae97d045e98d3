// SPDX-License-Identifier: Apache-2.0
// A call of cublasLtMatmul: its shape is in descriptors, which only cublasLt reads.
#pragma once

#include "tuner/blas/call_server.hpp"

namespace autotune::blas {

/// The descriptors of a call, and the addresses of its scalars.
struct LtCall {
  void* operation;
  void* a;
  void* b;
  void* c;
  void* d;
  const void* alpha;
  const void* beta;
};

/// What is not read is of a kind that is passed on. Reading all of a call takes some 35 calls of
/// cublasLt. Layouts with known contents are not read again. Where nobody counts, only the
/// operation is read of a call that no kernel could serve.
Call call_of(const LtCall& lt, const CallValues& values, Stream stream) noexcept;

}  // namespace autotune::blas
