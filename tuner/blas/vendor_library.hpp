// SPDX-License-Identifier: Apache-2.0
// The cuBLAS that a caller is linked with, to which calls are passed on. A process may have
// several.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tuner/blas/call_shape.hpp"

namespace autotune::blas {

/// The vendor's functions that are called here.
inline constexpr std::array kVendorFunctions{"cublasSgemm_v2",
                                             "cublasSgemm_v2_64",
                                             "cublasSgemmStridedBatched",
                                             "cublasSgemmStridedBatched_64",
                                             "cublasSgemmBatched",
                                             "cublasSgemmBatched_64",
                                             "cublasSgemmGroupedBatched",
                                             "cublasSgemmGroupedBatched_64",
                                             "cublasGemmEx",
                                             "cublasGemmEx_64",
                                             "cublasGemmStridedBatchedEx",
                                             "cublasGemmStridedBatchedEx_64",
                                             "cublasGemmBatchedEx",
                                             "cublasGemmBatchedEx_64",
                                             "cublasGemmGroupedBatchedEx",
                                             "cublasGemmGroupedBatchedEx_64",
                                             "cublasGetPointerMode_v2",
                                             "cublasGetMathMode",
                                             "cublasGetSmCountTarget",
                                             "cublasGetStream_v2",
                                             "cublasLtMatmul",
                                             "cublasLtMatmulAlgoCheck",
                                             "cublasLtMatmulDescCreate",
                                             "cublasLtMatmulDescDestroy",
                                             "cublasLtMatmulDescGetAttribute",
                                             "cublasLtMatrixLayoutCreate",
                                             "cublasLtMatrixLayoutDestroy",
                                             "cublasLtMatrixLayoutGetAttribute"};

/// Its index above. Other names do not compile.
consteval std::size_t vendor_function(std::string_view name) {
  std::size_t index = 0;
  while (name != kVendorFunctions.at(index)) ++index;
  return index;
}

/// A loaded libcublas or libcublasLt. It is never unloaded.
struct VendorLibrary {
  std::array<void*, kVendorFunctions.size()> functions{};

  /// nullptr if this version does not have it.
  template <class Function>
  Function* function(std::size_t index) const noexcept {
    return reinterpret_cast<Function*>(functions[index]);
  }
};

enum class Part { blas, lt };

/// The code that made a call.
struct Caller {
  const VendorLibrary* vendor =
      nullptr;             // gets the call if it is passed on; nullptr: there is none
  bool is_plugin = false;  // of autotune: it times cuBLAS itself

  template <class Function>
  Function* function(std::size_t index) const noexcept {
    return vendor ? vendor->function<Function>(index) : nullptr;
  }
};

/// The caller with this return address. If one version of cuBLAS is loaded, its vendor is the next
/// library in the search order, else the library that the caller is linked with, else a loaded one,
/// else one that the loader finds. If several are loaded, the library that the caller is linked
/// with comes first, and there is a warning.
Caller caller_at(const void* address, Part part) noexcept;

/// The settings of a handle. If cuBLAS does not tell them, calls are passed on.
struct HandleState {
  int pointer_mode = -1;
  int math_mode = -1;
  int sm_count_target = 0;  // 0: all; also where cuBLAS has no such setting
};
HandleState state_of(const VendorLibrary& vendor, BlasHandle handle) noexcept;
/// False if cuBLAS does not tell.
bool stream_of(const VendorLibrary& vendor, BlasHandle handle, Stream& stream) noexcept;

}  // namespace autotune::blas
