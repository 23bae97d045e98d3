// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/lt_call.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "tuner/blas/options.hpp"
#include "tuner/blas/vendor_library.hpp"

namespace autotune::blas {
namespace {

using GetAttribute = Status(void*, int, void*, std::size_t, std::size_t*);

template <class Value>
Value read(GetAttribute* get, void* descriptor, int attribute, Value otherwise) {
  Value value{};
  std::size_t written = 0;
  const bool is_read =
      get && descriptor && get(descriptor, attribute, &value, sizeof value, &written) == kSuccess;
  return is_read ? value : otherwise;
}

template <class Value>
Value read(void* operation, OperationAttribute attribute, Value otherwise) {
  static auto* const get = vendor_function<GetAttribute>("cublasLtMatmulDescGetAttribute");
  return read(get, operation, static_cast<int>(attribute), otherwise);
}

template <class Value>
Value read(void* layout, LayoutAttribute attribute, Value otherwise) {
  static auto* const get = vendor_function<GetAttribute>("cublasLtMatrixLayoutGetAttribute");
  return read(get, layout, static_cast<int>(attribute), otherwise);
}

/// One of the matrices.
struct Matrix {
  Matrix() = default;
  explicit Matrix(void* layout)
      : type(read(layout, LayoutAttribute::type, std::int32_t{-1})),
        order(read(layout, LayoutAttribute::order, std::int32_t{-1})),
        batch(read(layout, LayoutAttribute::batch, std::int32_t{-1})),
        rows(read(layout, LayoutAttribute::rows, std::int64_t{0})),
        columns(read(layout, LayoutAttribute::columns, std::int64_t{0})),
        leading(read(layout, LayoutAttribute::leading_dimension, std::int64_t{0})),
        stride(batch == 1 ? 0 : read(layout, LayoutAttribute::stride, std::int64_t{0})) {}

  std::int32_t type = -1, order = -1, batch = -1;
  std::int64_t rows = 0, columns = 0, leading = 0, stride = 0;
};

/// cublasLtMatrixLayoutOpaque_t: programs may copy it, so its words are all that there is to it.
using LayoutWords = std::array<std::uint64_t, 8>;

/// What was read of a layout lately. Programs make layouts anew for each call, with few contents.
class KnownLayouts {
 public:
  const Matrix& of(void* layout) {
    LayoutWords words;
    std::memcpy(&words, layout, sizeof words);
    std::uint64_t hash = 0;
    for (const std::uint64_t word : words) hash = std::rotl(hash ^ word, 29) * 0x9e3779b97f4a7c15u;
    Known& known = known_[hash >> 59];
    if (!known.is_set || known.words != words) known = {words, Matrix(layout), true};
    return known.matrix;
  }

 private:
  struct Known {
    LayoutWords words{};
    Matrix matrix;
    bool is_set = false;
  };
  std::array<Known, 32> known_{};
};

Matrix matrix_of(void* layout) {
  thread_local KnownLayouts known;
  return layout ? known.of(layout) : Matrix();
}

/// Of all matrices; 0, which is invalid, if they differ.
std::int32_t batch_of(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d) {
  return a.batch == d.batch && b.batch == d.batch && c.batch == d.batch ? d.batch : 0;
}

void take_layouts(CallShape& shape, const LtCall& lt) {
  const Matrix a = matrix_of(lt.a), b = matrix_of(lt.b), c = matrix_of(lt.c), d = matrix_of(lt.d);
  shape.m = d.rows, shape.n = d.columns;
  shape.k = shape.op_a == kNotTransposed ? a.columns : a.rows;
  shape.lda = a.leading, shape.ldb = b.leading, shape.ldc = c.leading, shape.ldd = d.leading;
  shape.stride_a = a.stride, shape.stride_b = b.stride;
  shape.stride_c = c.stride, shape.stride_d = d.stride;
  shape.batch = batch_of(a, b, c, d);
  shape.a_type = a.type, shape.b_type = b.type, shape.c_type = c.type, shape.d_type = d.type;
  const bool is_column_major = a.order == kColumnMajor && b.order == kColumnMajor &&
                               c.order == kColumnMajor && d.order == kColumnMajor;
  shape.other_order = is_column_major ? 0 : 1;
}

/// nullptr if there is none. One that has not the type of D makes the epilogue unknown.
const void* bias_of(void* operation, CallShape& shape) {
  if ((shape.epilogue & kBias) == 0) return nullptr;
  const void* const none = nullptr;
  const void* const bias = read(operation, OperationAttribute::bias_pointer, none);
  const std::int32_t type = read(operation, OperationAttribute::bias_type, std::int32_t{-1});
  if (!bias || (type != -1 && type != shape.d_type)) shape.epilogue = -1;
  return bias;
}

}  // namespace

Call call_of(const LtCall& lt, const CallValues& values, Stream stream) noexcept {
  Call call{{}, values, nullptr, stream};
  CallShape& shape = call.shape;
  shape.function = Function::lt_matmul;
  const auto operation = [&](OperationAttribute attribute) {
    return read(lt.operation, attribute, std::int32_t{-1});
  };
  shape.compute_type = operation(OperationAttribute::compute_type);
  shape.op_a = static_cast<std::uint8_t>(operation(OperationAttribute::op_a));
  shape.op_b = static_cast<std::uint8_t>(operation(OperationAttribute::op_b));
  shape.epilogue = operation(OperationAttribute::epilogue);
  const bool may_be_served = shape.compute_type == kComputeF32 && options().serve;
  if (may_be_served || options().counts()) {
    take_layouts(shape, lt);
    call.values.bias = bias_of(lt.operation, shape);
  }
  const bool is_plain = shape.compute_type == kComputeF32 &&
                        operation(OperationAttribute::scale_type) == kF32 &&
                        operation(OperationAttribute::op_c) == kNotTransposed;
  take_values(call, is_plain ? operation(OperationAttribute::pointer_mode) : -1, lt.alpha, lt.beta);
  return call;
}

}  // namespace autotune::blas
