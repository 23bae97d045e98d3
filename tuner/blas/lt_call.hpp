// SPDX-License-Identifier: Apache-2.0
// A call of cublasLtMatmul. Its shape is in opaque descriptors, which cublasLt reads for us.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "tuner/blas/call_server.hpp"
#include "tuner/blas/call_shape.hpp"
#include "tuner/blas/vendor_library.hpp"

namespace autotune::blas {

/// Of one cublasLt. A call is passed on if it has an attribute with another value than the default
/// and kernels do not obey it. So this reads all that cublasLt has, also those that are newer than
/// this library.
class LtAttributes {
 public:
  explicit LtAttributes(const VendorLibrary& vendor);

  /// `otherwise` if it cannot be read.
  template <class Value>
  Value read(void* operation, FactorAttribute attribute, Value otherwise) const {
    return read_with(get_of_operation_, operation, static_cast<int>(attribute), otherwise);
  }
  template <class Value>
  Value read(void* operation, OperationAttribute attribute, Value otherwise) const {
    return read_with(get_of_operation_, operation, static_cast<int>(attribute), otherwise);
  }
  template <class Value>
  Value read(void* layout, LayoutAttribute attribute, Value otherwise) const {
    return read_with(get_of_layout_, layout, static_cast<int>(attribute), otherwise);
  }

  /// Whether an attribute that kernels do not obey differs from its default. Also if defaults are
  /// unknown. Takes a call of cublasLt for each of them, 25 in version 13.0. `is_8_bit`: kernels
  /// obey FactorAttribute.
  bool has_others(void* operation, std::span<void* const> layouts, bool is_8_bit) const;

 private:
  using GetAttribute = Status(void*, int, void*, std::size_t, std::size_t*);
  static constexpr std::size_t kMostBytes = 64;

  struct Default {
    int attribute;
    std::size_t bytes;
    std::array<std::byte, kMostBytes> value{};
  };
  struct Defaults {
    bool are_known = false;
    std::vector<Default> others;
  };

  template <class Value>
  static Value read_with(GetAttribute* get, void* descriptor, int attribute, Value otherwise) {
    Value value{};
    std::size_t written = 0;
    const bool is_read =
        get && descriptor && get(descriptor, attribute, &value, sizeof value, &written) == kSuccess;
    return is_read ? value : otherwise;
  }
  static Defaults defaults_of(GetAttribute* get, void* descriptor, std::span<const int> named);
  static bool are_default(GetAttribute* get, void* descriptor, const Defaults& defaults,
                          bool is_8_bit);

  GetAttribute* get_of_operation_;
  GetAttribute* get_of_layout_;
  Defaults of_operation_, of_layout_;
};

/// Made at the first call. Never freed.
const LtAttributes& attributes_of(const VendorLibrary& vendor);

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

/// True if a tuned kernel was launched. Reading the operation takes up to ten calls of cublasLt,
/// 15 if operands have 8 bits, the layouts 36. An earlier call with the same contents saves those
/// of the layouts: their bytes are compared. A call that may be served, or is counted, takes
/// LtAttributes::has_others() too.
bool serve(const VendorLibrary& vendor, const LtCall& lt) noexcept;

}  // namespace autotune::blas
