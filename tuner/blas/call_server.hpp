// SPDX-License-Identifier: Apache-2.0
// Decides for each call whether a tuned kernel serves it, and counts.
#pragma once

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/serving_kernel.hpp"

namespace autotune::blas {

/// A call as cuBLAS gets it.
struct Call {
  CallValues values;
  BlasHandle handle = nullptr;  // its stream counts, unless this is null
  Stream stream = nullptr;
};

/// Reads the scalars of a call into its values. `alpha` and `beta` are addresses of floats, on the
/// host if `pointer_mode` says so.
Scale take_scalars(CallValues& values, int pointer_mode, const void* alpha,
                   const void* beta) noexcept;

/// The largest power of two, up to 16, that divides all addresses but that of a bias.
std::uint8_t alignment_of(const CallValues& values) noexcept;

/// The entry of a shape on the current device. It stays where it is. nullptr if there are thousands
/// of shapes, because no kernel is tuned for each, and in a forked process.
CallEntry* entry_of(CallShape shape);

/// True if a tuned kernel was launched. Else the caller passes the call on.
bool serve(CallEntry* entry, const Call& call) noexcept;

/// All calls of this process.
CallTable& call_table();

/// At the end of the process: the rest of the workload file, and the report. Those of a forked
/// process would count the calls of the other one again.
void finish() noexcept;

}  // namespace autotune::blas
