// SPDX-License-Identifier: Apache-2.0
// The program's own cuBLAS, to which calls are passed on.
#pragma once

#include "tuner/blas/cublas_abi.hpp"

namespace autotune::blas {

/// The vendor's function of this name: from the next library in the search order, else from a
/// loaded libcublas or libcublasLt, else from one that the loader finds. nullptr if there is none.
void* vendor_symbol(const char* name) noexcept;

template <class Function>
Function* vendor_function(const char* name) noexcept {
  return reinterpret_cast<Function*>(vendor_symbol(name));
}

/// The settings of a handle. If cuBLAS does not tell them, calls are passed on.
struct HandleState {
  int pointer_mode = -1;
  int math_mode = -1;
};
HandleState state_of(BlasHandle handle) noexcept;
/// False if cuBLAS does not tell.
bool stream_of(BlasHandle handle, Stream& stream) noexcept;

}  // namespace autotune::blas
