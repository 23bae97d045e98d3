// SPDX-License-Identifier: Apache-2.0
// Decides for each call whether a tuned kernel serves it, and counts.
#pragma once

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/cublas_abi.hpp"
#include "tuner/blas/serving_kernel.hpp"
#include "tuner/blas/vendor_library.hpp"

namespace autotune::blas {

/// A call, with the arguments that cuBLAS gets.
struct Call {
  CallValues values;
  const VendorLibrary* vendor = nullptr;
  BlasHandle handle = nullptr;  // its stream is used, unless this is null
  Stream stream = nullptr;
};

/// Reads the scalars of a call into its values. `alpha` and `beta` are addresses of floats, on the
/// host if `pointer_mode` says so.
Scale take_scalars(CallValues& values, int pointer_mode, const void* alpha,
                   const void* beta) noexcept;

/// Whether all matrices that are read or written have an address.
bool has_addresses(const CallValues& values) noexcept;

/// The largest power of two, up to 16, that divides all addresses except that of a bias.
std::uint8_t alignment_of(const CallValues& values) noexcept;

/// The entry of a shape on the current device. It never moves. nullptr in a forked process, and
/// once there are thousands of shapes, because kernels for all of them are unlikely.
CallEntry* entry_of(CallShape shape);

/// False if serve() passes the call on, whatever its addresses are.
bool may_be_served(const CallEntry& entry) noexcept;

/// True if a tuned kernel was launched. Otherwise the caller calls cuBLAS.
bool serve(CallEntry* entry, const Call& call) noexcept;

/// Follows a call of cuBLAS that serve() has passed on: `has_run` tells whether cuBLAS took it.
void end_vendor_call(bool has_run) noexcept;

/// All calls of this process.
CallTable& call_table();

/// Called at the end of the process: completes the workload file and writes the report. Does
/// nothing in a forked process, whose counts include those of its parent.
void finish() noexcept;

}  // namespace autotune::blas
