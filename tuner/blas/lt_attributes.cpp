// SPDX-License-Identifier: Apache-2.0
#include "tuner/blas/lt_attributes.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "tuner/blas/growing_list.hpp"

namespace autotune::blas {
namespace {

/// Far more than any version has: 39 in version 13.0.
constexpr int kMostAttributes = 256;

using Destroy = Status(void*);

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

bool LtAttributes::are_default(GetAttribute* get, void* descriptor, const Defaults& defaults) {
  return std::ranges::all_of(defaults.others, [&](const Default& one) {
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

bool LtAttributes::has_others(void* operation, std::span<void* const> layouts) const {
  if (!of_operation_.are_known || !of_layout_.are_known) return true;
  return !are_default(get_of_operation_, operation, of_operation_) ||
         !std::ranges::all_of(layouts, [&](void* layout) {
           return are_default(get_of_layout_, layout, of_layout_);
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

}  // namespace autotune::blas
