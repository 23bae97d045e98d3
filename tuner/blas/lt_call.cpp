// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/lt_call.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

#include "tuner/blas/cuda_driver.hpp"
#include "tuner/blas/options.hpp"
#include "tuner/blas/vendor_library.hpp"
#include "tuner/blas/word_hash.hpp"

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

std::int32_t number(void* operation, OperationAttribute attribute) {
  return read(operation, attribute, std::int32_t{-1});
}

/// One of the matrices.
struct LtMatrix {
  explicit LtMatrix(void* layout)
      : type(read(layout, LayoutAttribute::type, std::int32_t{-1})),
        order(read(layout, LayoutAttribute::order, std::int32_t{-1})),
        batch(read(layout, LayoutAttribute::batch, std::int32_t{-1})),
        rows(read(layout, LayoutAttribute::rows, std::int64_t{0})),
        columns(read(layout, LayoutAttribute::columns, std::int64_t{0})),
        leading(read(layout, LayoutAttribute::leading_dimension, std::int64_t{0})),
        stride(batch == 1 ? 0 : read(layout, LayoutAttribute::stride, std::int64_t{0})) {}

  std::int32_t type, order, batch;
  std::int64_t rows, columns, leading, stride;
};

/// The bytes of a cublasLtMatrixLayoutOpaque_t. Programs may copy it, so it holds no pointers.
using LayoutWords = std::array<std::uint64_t, 8>;

LayoutWords words_of(const void* layout) {
  LayoutWords words{};
  if (layout) std::memcpy(&words, layout, sizeof words);
  return words;
}

/// Everything that determines the shape of a call. Compared and hashed as bytes.
struct LtKey {
  LayoutWords a, b, c, d;
  std::int32_t compute_type = -1, op_a = -1, op_b = -1, epilogue = -1, bias_type = -1, device = -1;
  Scale scale = Scale::none;
  std::uint8_t alignment = 16;
  std::array<std::uint8_t, 6> unused{};
};

/// The common batch count of all matrices; 0, which is invalid, if they differ.
std::int32_t batch_of(const LtMatrix& a, const LtMatrix& b, const LtMatrix& c, const LtMatrix& d) {
  return a.batch == d.batch && b.batch == d.batch && c.batch == d.batch ? d.batch : 0;
}

void take_layouts(CallShape& shape, const LtCall& lt) {
  const LtMatrix a(lt.a), b(lt.b), c(lt.c), d(lt.d);
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

/// If the bias does not have the type of D, the epilogue counts as unknown.
CallShape shape_of(const LtKey& key, const LtCall& lt) {
  CallShape shape;
  shape.function = Function::lt_matmul;
  shape.compute_type = key.compute_type;
  shape.op_a = static_cast<std::uint8_t>(key.op_a);
  shape.op_b = static_cast<std::uint8_t>(key.op_b);
  take_layouts(shape, lt);
  const bool is_known_bias = key.bias_type == -1 || key.bias_type == shape.d_type;
  shape.epilogue = is_known_bias ? key.epilogue : -1;
  shape.scale = key.scale;
  shape.alignment = key.alignment;
  return shape;
}

/// The calls that were made. Programs make new descriptors for each call, but with few different
/// contents. Grows only; lock-free.
class KnownCalls {
 public:
  CallEntry* entry_of(const LtKey& key, const LtCall& lt) {
    const std::uint64_t hash = word_hash(key);
    std::atomic<const Known*>* free = nullptr;
    for (std::size_t i = 0; i < kProbes && !free; ++i) {
      std::atomic<const Known*>& slot = slots_[(hash + i) % slots_.size()];
      const Known* const known = slot.load(std::memory_order_acquire);
      if (!known) free = &slot;
      if (known && std::memcmp(&known->key, &key, sizeof key) == 0) return known->entry;
    }
    CallEntry* const entry = blas::entry_of(shape_of(key, lt));
    if (free) remember(*free, {key, entry});
    return entry;
  }

 private:
  struct Known {
    LtKey key;
    CallEntry* entry;
  };

  void remember(std::atomic<const Known*>& slot, const Known& known) {
    auto kept = std::make_unique<const Known>(known);
    const Known* none = nullptr;
    if (slot.compare_exchange_strong(none, kept.get(), std::memory_order_release)) kept.release();
  }

  static constexpr std::size_t kProbes = 8;
  std::array<std::atomic<const Known*>, 4096> slots_{};
};

/// Stores the address of the bias in the values.
LtKey key_of(const LtCall& lt, std::int32_t compute_type, CallValues& values) {
  const auto operation = [&](OperationAttribute what) { return number(lt.operation, what); };
  LtKey key{words_of(lt.a), words_of(lt.b), words_of(lt.c), words_of(lt.d)};
  key.compute_type = compute_type;
  key.op_a = operation(OperationAttribute::op_a);
  key.op_b = operation(OperationAttribute::op_b);
  key.epilogue = operation(OperationAttribute::epilogue);
  if ((key.epilogue & kBias) != 0) {
    const void* const none = nullptr;
    values.bias = read(lt.operation, OperationAttribute::bias_pointer, none);
    key.bias_type = operation(OperationAttribute::bias_type);
    if (!values.bias) key.epilogue = -1;
  }
  const bool has_plain_scalars = compute_type == kComputeF32 &&
                                 operation(OperationAttribute::scale_type) == kF32 &&
                                 operation(OperationAttribute::op_c) == kNotTransposed;
  const int mode = has_plain_scalars ? operation(OperationAttribute::pointer_mode) : -1;
  key.scale = take_scalars(values, mode, lt.alpha, lt.beta);
  key.alignment = alignment_of(values);
  key.device = current_device();
  return key;
}

}  // namespace

bool serve(const LtCall& lt) noexcept try {
  static constinit KnownCalls known;  // used until the process ends
  const std::int32_t compute_type = number(lt.operation, OperationAttribute::compute_type);
  const bool may_be_served = compute_type == kComputeF32 && options().serve;
  if (!may_be_served && !options().counts()) return false;
  Call call{lt.values, nullptr, lt.stream};
  const LtKey key = key_of(lt, compute_type, call.values);
  return serve(known.entry_of(key, lt), call);
} catch (...) {
  return false;
}

}  // namespace autotune::blas
