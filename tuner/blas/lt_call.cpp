// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/lt_call.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>

#include "tuner/blas/call_table.hpp"
#include "tuner/blas/options.hpp"
#include "tuner/blas/serving_kernel.hpp"

namespace autotune::blas {
namespace {

/// Far more than any version has: 39 in version 13.0.
constexpr int kMostAttributes = 256;

using Destroy = Status(void*);

/// One of the matrices.
struct LtMatrix {
  LtMatrix(const LtAttributes& attributes, void* layout)
      : type(attributes.read(layout, LayoutAttribute::type, std::int32_t{-1})),
        order(attributes.read(layout, LayoutAttribute::order, std::int32_t{-1})),
        batch(attributes.read(layout, LayoutAttribute::batch, std::int32_t{-1})),
        batch_mode(attributes.read(layout, LayoutAttribute::batch_mode, std::int32_t{kStrided})),
        rows(attributes.read(layout, LayoutAttribute::rows, std::int64_t{0})),
        columns(attributes.read(layout, LayoutAttribute::columns, std::int64_t{0})),
        leading(attributes.read(layout, LayoutAttribute::leading_dimension, std::int64_t{0})),
        stride(batch == 1 ? 0 : attributes.read(layout, LayoutAttribute::stride, std::int64_t{0})),
        plane_offset(attributes.read(layout, LayoutAttribute::plane_offset, std::int64_t{0})) {}

  bool is(std::int64_t its_rows, std::int64_t its_columns) const {
    return rows == its_rows && columns == its_columns;
  }

  std::int32_t type, order, batch, batch_mode;
  std::int64_t rows, columns, leading, stride, plane_offset;
};

/// The bytes of a cublasLtMatrixLayoutOpaque_t or a cublasLtMatmulAlgo_t. Programs may copy them,
/// so they hold no pointers.
using Words = std::array<std::uint64_t, 8>;

Words words_of(const void* opaque) {
  Words words{};
  if (opaque) std::memcpy(&words, opaque, sizeof words);
  return words;
}

/// Everything that determines the shape of a call. Compared and hashed as bytes.
struct LtKey {
  Words a, b, c, d, algorithm;
  std::uint64_t workspace_bytes = 0;
  std::int32_t compute_type = -1, op_a = -1, op_b = -1, epilogue = -1, bias_type = -1, device = -1;
  std::uint64_t vendor = 0;  // an address: each version reads descriptors in its own way
  Scale scale = Scale::none;
  std::uint8_t alignment = 16;
  Outcome obstacle = Outcome::served;
  Factors factors = Factors::none;
  Sums sums = Sums::promoted;
  std::uint8_t is_8_bit = 0;
  std::array<std::uint8_t, 2> unused{};
};

/// The common batch count of all matrices; 0, which is invalid, if they differ.
std::int32_t batch_of(const LtMatrix& a, const LtMatrix& b, const LtMatrix& c, const LtMatrix& d) {
  return a.batch == d.batch && b.batch == d.batch && c.batch == d.batch ? d.batch : 0;
}

/// Why no kernel takes these matrices, if the shape does not show it.
Outcome obstacle_of(const CallShape& s, const std::array<LtMatrix, 4>& matrices) {
  const auto all = [&](auto LtMatrix::*member, auto value) {
    return std::ranges::all_of(matrices, [&](const LtMatrix& one) { return one.*member == value; });
  };
  const auto& [a, b, c, d] = matrices;
  const bool a_plain = s.op_a == kNotTransposed, b_plain = s.op_b == kNotTransposed;
  const bool fit = a.is(a_plain ? s.m : s.k, a_plain ? s.k : s.m) &&
                   b.is(b_plain ? s.k : s.n, b_plain ? s.n : s.k) && c.is(s.m, s.n);
  if (all(&LtMatrix::batch_mode, kPointers)) return Outcome::pointers;
  if (!all(&LtMatrix::batch_mode, kStrided)) return Outcome::settings;
  if (!all(&LtMatrix::plane_offset, 0)) return Outcome::settings;
  if (!all(&LtMatrix::order, kColumnMajor)) return Outcome::order;
  return fit ? Outcome::served : Outcome::empty;
}

void take_layouts(CallShape& shape, const LtAttributes& attributes, const LtCall& lt) {
  const LtMatrix a(attributes, lt.a), b(attributes, lt.b), c(attributes, lt.c), d(attributes, lt.d);
  shape.m = d.rows, shape.n = d.columns;
  shape.k = shape.op_a == kNotTransposed ? a.columns : a.rows;
  shape.lda = a.leading, shape.ldb = b.leading, shape.ldc = c.leading, shape.ldd = d.leading;
  shape.stride_a = a.stride, shape.stride_b = b.stride;
  shape.stride_c = c.stride, shape.stride_d = d.stride;
  shape.batch = batch_of(a, b, c, d);
  shape.a_type = a.type, shape.b_type = b.type, shape.c_type = c.type, shape.d_type = d.type;
  if (shape.obstacle == Outcome::served) shape.obstacle = obstacle_of(shape, {a, b, c, d});
}

/// If the bias does not have the type of D, the epilogue counts as unknown. Where a program says
/// nothing, cublasLt takes bf16 for products of 8 bits whose D is f32.
CallShape shape_of(const LtKey& key, const LtAttributes& attributes, const LtCall& lt) {
  CallShape shape;
  shape.function = Function::lt_matmul;
  shape.compute_type = key.compute_type;
  shape.op_a = operation_of(key.op_a);
  shape.op_b = operation_of(key.op_b);
  shape.obstacle = key.obstacle;
  take_layouts(shape, attributes, lt);
  const bool is_usual_bias =
      (key.epilogue & kBias) == 0 || key.is_8_bit == 0 || shape.d_type != kF32;
  const bool is_known_bias = key.bias_type == -1 ? is_usual_bias : key.bias_type == shape.d_type;
  shape.epilogue = is_known_bias ? key.epilogue : -1;
  shape.scale = key.scale;
  shape.factors = key.factors, shape.sums = key.sums;
  shape.alignment = key.alignment;
  return shape;
}

/// A cublasLtMatmulHeuristicResult_t.
struct LtAlgorithmCheck {
  Words algorithm{};
  std::size_t workspace_bytes = 0;
  Status state = kSuccess;
  float waves = 0;
  std::array<int, 4> reserved{};
};

/// Whether cublasLt runs the program's algorithm on these matrices, in the program's workspace.
bool takes_algorithm(const VendorLibrary& vendor, const LtCall& lt) {
  using Check = Status(BlasHandle, void*, void*, void*, void*, void*, const void*, void*);
  auto* const check = vendor.function<Check>(vendor_function("cublasLtMatmulAlgoCheck"));
  if (!lt.algorithm || !check) return true;
  LtAlgorithmCheck result;
  return check(lt.handle, lt.operation, lt.a, lt.b, lt.c, lt.d, lt.algorithm, &result) ==
             kSuccess &&
         result.workspace_bytes <= lt.workspace_bytes;
}

/// The calls that were made. Programs make new descriptors for each call, but with few different
/// contents. Grows only; lock-free.
class KnownCalls {
 public:
  CallEntry* entry_of(const LtKey& key, const VendorLibrary& vendor, const LtCall& lt) {
    const std::uint64_t hash = word_hash(key);
    std::atomic<const Known*>* free = nullptr;
    for (std::size_t i = 0; i < kProbes && !free; ++i) {
      std::atomic<const Known*>& slot = slots_[(hash + i) % slots_.size()];
      const Known* const known = slot.load(std::memory_order_acquire);
      if (!known) free = &slot;
      if (known && std::memcmp(&known->key, &key, sizeof key) == 0) return known->entry;
    }
    CallShape shape = shape_of(key, attributes_of(vendor), lt);
    const bool is_valid = shape.obstacle != Outcome::served || takes_algorithm(vendor, lt);
    if (!is_valid) shape.obstacle = Outcome::empty;
    CallEntry* const entry = blas::entry_of(shape);
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

/// cuBLAS refuses a call without handle or matrices, and a C in the place of a D of another layout.
bool is_refused(const LtCall& lt, const CallValues& values) {
  return !lt.handle || !has_addresses(values) ||
         (values.c == values.d && words_of(lt.c) != words_of(lt.d));
}

/// nullopt for what kernels do not have.
std::optional<Factors> factors_of(const CallValues& values, int of_a, int of_b, Sums sums) {
  const auto are = [&](int a, int b) { return of_a == a && of_b == b; };
  if (!values.scale_a && !values.scale_b && are(kOneFactor, kOneFactor)) return Factors::none;
  if (!values.scale_a || !values.scale_b) return std::nullopt;
  if (are(kOneFactor, kOneFactor)) return Factors::tensor;
  if (are(kFactorsOfLines, kFactorsOfLines)) return Factors::rows;
  const bool are_blocks = are(kFactorsOf128x128, kFactorsOf128) && sums == Sums::promoted;
  return are_blocks ? std::optional(Factors::blocks) : std::nullopt;
}

/// Of operands of 8 bits. Stores the addresses of the factors in the values.
void take_factors(LtKey& key, void* operation, const LtAttributes& attributes, CallValues& values) {
  const auto read = [&](FactorAttribute what, auto otherwise) {
    return attributes.read(operation, what, otherwise);
  };
  const void* const none = nullptr;
  values.scale_a = read(FactorAttribute::a_pointer, none);
  values.scale_b = read(FactorAttribute::b_pointer, none);
  key.is_8_bit = 1;
  key.sums = read(FactorAttribute::fast_sums, std::int8_t{0}) != 0 ? Sums::fast : Sums::promoted;
  const auto factors =
      factors_of(values, read(FactorAttribute::a_mode, std::int32_t{kOneFactor}),
                 read(FactorAttribute::b_mode, std::int32_t{kOneFactor}), key.sums);
  if (!factors) key.obstacle = Outcome::settings;
  key.factors = factors.value_or(Factors::none);
}

/// Stores the address of the bias in the values.
LtKey key_of(const LtCall& lt, const LtAttributes& attributes, std::int32_t compute_type,
             CallValues& values) {
  const auto operation = [&](OperationAttribute what) {
    return attributes.read(lt.operation, what, std::int32_t{-1});
  };
  LtKey key{words_of(lt.a), words_of(lt.b), words_of(lt.c), words_of(lt.d), words_of(lt.algorithm)};
  key.workspace_bytes = lt.workspace_bytes;
  key.compute_type = compute_type;
  key.op_a = operation(OperationAttribute::op_a);
  key.op_b = operation(OperationAttribute::op_b);
  key.epilogue = operation(OperationAttribute::epilogue);
  if ((key.epilogue & kBias) != 0) {
    const void* const none = nullptr;
    values.bias = attributes.read(lt.operation, OperationAttribute::bias_pointer, none);
    key.bias_type = operation(OperationAttribute::bias_type);
    if (!values.bias) key.epilogue = -1;
  }
  const bool has_plain_scalars = compute_type == kComputeF32 &&
                                 operation(OperationAttribute::scale_type) == kF32 &&
                                 operation(OperationAttribute::op_c) == kNotTransposed;
  const int mode = has_plain_scalars ? operation(OperationAttribute::pointer_mode) : -1;
  key.scale = take_scalars(values, mode, lt.alpha, lt.beta);
  if (attributes.read(lt.a, LayoutAttribute::type, std::int32_t{-1}) == kE4m3) {
    take_factors(key, lt.operation, attributes, values);
  }
  key.alignment = alignment_of(values);
  key.device = current_device();
  if (is_refused(lt, values)) key.obstacle = Outcome::empty;
  return key;
}

}  // namespace

LtAttributes::Defaults LtAttributes::defaults_of(GetAttribute* get, void* descriptor,
                                                 std::span<const int> named) {
  Defaults defaults;
  for (int attribute = 0; get && attribute < kMostAttributes; ++attribute) {
    Default one{attribute, 0, {}};
    const bool exists =
        get(descriptor, attribute, nullptr, 0, &one.bytes) == kSuccess && one.bytes > 0;
    if (!exists) continue;
    defaults.are_known = true;
    if (std::ranges::find(named, attribute) == named.end()) defaults.others.push_back(one);
  }
  for (Default& one : defaults.others) {
    std::size_t written = 0;
    const bool is_read = one.bytes <= kMostBytes && get(descriptor, one.attribute, one.value.data(),
                                                        one.bytes, &written) == kSuccess;
    defaults.are_known = defaults.are_known && is_read;
  }
  return defaults;
}

bool LtAttributes::are_default(GetAttribute* get, void* descriptor, const Defaults& defaults,
                               bool is_8_bit) {
  return std::ranges::all_of(defaults.others, [&](const Default& one) {
    const auto is_it = [&](FactorAttribute each) {
      return static_cast<int>(each) == one.attribute;
    };
    if (is_8_bit && std::ranges::any_of(kFactorAttributes, is_it)) return true;
    std::array<std::byte, kMostBytes> value{};
    std::size_t written = 0;
    return get(descriptor, one.attribute, value.data(), one.bytes, &written) == kSuccess &&
           value == one.value;
  });
}

LtAttributes::LtAttributes(const VendorLibrary& vendor)
    : get_of_operation_(
          vendor.function<GetAttribute>(vendor_function("cublasLtMatmulDescGetAttribute"))),
      get_of_layout_(
          vendor.function<GetAttribute>(vendor_function("cublasLtMatrixLayoutGetAttribute"))) {
  std::array<int, kObeyedAttributes.size()> obeyed{};
  std::ranges::transform(kObeyedAttributes, obeyed.begin(),
                         [](OperationAttribute one) { return static_cast<int>(one); });
  std::array<int, kLayoutAttributes> in_layout{};
  std::iota(in_layout.begin(), in_layout.end(), 0);

  auto* const create = vendor.function<Status(void**, int compute_type, int scale_type)>(
      vendor_function("cublasLtMatmulDescCreate"));
  auto* const destroy = vendor.function<Destroy>(vendor_function("cublasLtMatmulDescDestroy"));
  void* operation = nullptr;
  if (create && destroy && create(&operation, kComputeF32, kF32) == kSuccess) {
    of_operation_ = defaults_of(get_of_operation_, operation, obeyed);
    destroy(operation);
  }
  using CreateLayout = Status(void**, int type, std::uint64_t rows, std::uint64_t columns,
                              std::int64_t leading_dimension);
  auto* const create_layout =
      vendor.function<CreateLayout>(vendor_function("cublasLtMatrixLayoutCreate"));
  auto* const destroy_layout =
      vendor.function<Destroy>(vendor_function("cublasLtMatrixLayoutDestroy"));
  void* layout = nullptr;
  if (create_layout && destroy_layout && create_layout(&layout, kF32, 1, 1, 1) == kSuccess) {
    of_layout_ = defaults_of(get_of_layout_, layout, in_layout);
    destroy_layout(layout);
  }
}

bool LtAttributes::has_others(void* operation, std::span<void* const> layouts,
                              bool is_8_bit) const {
  if (!of_operation_.are_known || !of_layout_.are_known) return true;
  return !are_default(get_of_operation_, operation, of_operation_, is_8_bit) ||
         !std::ranges::all_of(layouts, [&](void* layout) {
           return are_default(get_of_layout_, layout, of_layout_, false);
         });
}

const LtAttributes& attributes_of(const VendorLibrary& vendor) {
  struct Known {
    const VendorLibrary* vendor;
    LtAttributes attributes;
  };
  static constinit GrowingList<Known> all;
  const auto is_it = [&](const Known& one) { return one.vendor == &vendor; };
  if (const Known* const known = all.find(is_it)) return known->attributes;
  return all.add({&vendor, LtAttributes(vendor)})->attributes;
}

bool serve(const VendorLibrary& vendor, const LtCall& lt) noexcept try {
  static constinit KnownCalls known;  // used until the process ends
  const LtAttributes& attributes = attributes_of(vendor);
  const auto compute_type =
      attributes.read(lt.operation, OperationAttribute::compute_type, std::int32_t{-1});
  const bool is_counted = options().counts();
  if (!is_counted && (compute_type != kComputeF32 || !options().serve)) return false;
  Call call{.values = lt.values, .stream = lt.stream};
  LtKey key = key_of(lt, attributes, compute_type, call.values);
  const auto has_others = [&] {
    return attributes.has_others(lt.operation, std::array{lt.a, lt.b, lt.c, lt.d},
                                 key.is_8_bit != 0);
  };
  key.vendor = reinterpret_cast<std::uintptr_t>(&vendor);
  if (is_counted && has_others()) key.obstacle = Outcome::settings;
  CallEntry* const entry = known.entry_of(key, vendor, lt);
  // Reading all attributes costs more than the rest: only where it decides.
  if (!is_counted && entry && may_be_served(*entry) && has_others()) return false;
  return serve(entry, call);
} catch (...) {
  return false;
}

}  // namespace autotune::blas
