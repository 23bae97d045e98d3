// SPDX-License-Identifier: Apache-2.0
// Decides for each call whether a tuned kernel serves it, and counts.
#pragma once

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/serving_kernel.hpp"

namespace autotune::blas {

/// A call as cuBLAS gets it.
struct Call {
  CallShape shape;
  CallValues values;
  BlasHandle handle = nullptr;  // its stream counts, unless this is null
  Stream stream = nullptr;
};

/// Reads the scalars of a call, and the alignment of its addresses, into its shape and values.
/// `alpha` and `beta` are addresses of floats, on the host if `pointer_mode` says so.
void take_values(Call& call, int pointer_mode, const void* alpha, const void* beta) noexcept;

/// True if a tuned kernel was launched. Else the caller passes the call on.
bool serve(Call& call) noexcept;

/// All calls of this process.
CallTable& call_table();

/// At the end of the process: the rest of the workload file, and the report.
void finish() noexcept;

}  // namespace autotune::blas
