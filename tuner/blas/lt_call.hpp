// SPDX-License-Identifier: Apache-2.0
// A call of cublasLtMatmul. Its shape is in opaque descriptors, which cublasLt reads for us.
#pragma once

#include <cstddef>

#include "tuner/blas/call_server.hpp"

namespace autotune::blas {

/// The handle and descriptors of a call, the addresses of its scalars, and those of its matrices.
struct LtCall {
  BlasHandle handle;
  void* operation;
  void* a;
  void* b;
  void* c;
  void* d;
  const void* alpha;
  const void* beta;
  CallValues values;
  Stream stream;
  const void* algorithm = nullptr;  // 64 bytes; nullptr: cublasLt's choice
  std::size_t workspace_bytes = 0;
};

/// True if a tuned kernel was launched. Reading the operation takes up to nine calls of cublasLt,
/// the layouts 36. An earlier call with the same contents saves those of the layouts: their bytes
/// are compared. A call that may be served, or is counted, takes LtAttributes::has_others() too.
bool serve(const VendorLibrary& vendor, const LtCall& lt) noexcept;

}  // namespace autotune::blas
