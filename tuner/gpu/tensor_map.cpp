// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/tensor_map.hpp"

#include <vector>

#include "tuner/core/device.hpp"
#include "tuner/gpu/driver_function.hpp"
#include "tuner/text/format.hpp"

namespace autotune {

namespace {

CUtensorMapDataType type_of(const TensorMap& map, ElementType type) {
  switch (type) {
    case ElementType::f32:
      return map.tf32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case ElementType::f64:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    case ElementType::i32:
      return CU_TENSOR_MAP_DATA_TYPE_INT32;
    case ElementType::f16:
      return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case ElementType::bf16:
      return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case ElementType::i8:
    case ElementType::u8:
      return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case ElementType::i16:
    case ElementType::u16:
      return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case ElementType::u32:
      return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case ElementType::u64:
      return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    case ElementType::i64:
      break;
  }
  return CU_TENSOR_MAP_DATA_TYPE_INT64;
}

CUtensorMapSwizzle swizzle_of(int bytes) {
  switch (bytes) {
    case 32:
      return CU_TENSOR_MAP_SWIZZLE_32B;
    case 64:
      return CU_TENSOR_MAP_SWIZZLE_64B;
    case 128:
      return CU_TENSOR_MAP_SWIZZLE_128B;
    default:
      return CU_TENSOR_MAP_SWIZZLE_NONE;
  }
}

constexpr const char* kOldDriver = "the driver is older than CUDA 12.0";

[[noreturn]] void refuse(const BufferSpec& buffer, const std::string& why) {
  throw KernelFailure(Outcome::launch_error, format("TMA descriptor of {}: {}", buffer.name, why));
}

}  // namespace

CUtensorMap encode(const TensorMap& map, const BufferSpec& buffer, std::byte* address) {
  static const auto encode_tiled = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(
      driver_function("cuTensorMapEncodeTiled"));
  if (encode_tiled == nullptr) refuse(buffer, kOldDriver);
  const std::size_t rank = map.dims.size();
  if (rank < 1 || rank > 5 || map.box.size() != rank || map.strides.size() + 1 != rank) {
    refuse(buffer, format("it has {} dims, {} box sizes and {} strides; there must be 1 to 5, as "
                          "many, and one fewer",
                          rank, map.box.size(), map.strides.size()));
  }
  const std::vector<cuuint64_t> dims(map.dims.begin(), map.dims.end());
  std::vector<cuuint64_t> strides(map.strides.begin(), map.strides.end());
  strides.push_back(0);  // never read, but there must be an array
  const std::vector<cuuint32_t> box(map.box.begin(), map.box.end());
  const std::vector<cuuint32_t> steps(rank, 1);
  CUtensorMap encoded;
  const CUresult result =
      encode_tiled(&encoded, type_of(map, buffer.type), static_cast<cuuint32_t>(rank), address,
                   dims.data(), strides.data(), box.data(), steps.data(),
                   CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle_of(map.swizzle_bytes),
                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    refuse(buffer,
           "the driver refuses it: strides must be multiples of 16 bytes, a box at most "
           "256 a dimension and, when swizzled, no wider than the swizzle");
  }
  return encoded;
}

void move_to(CUtensorMap& map, const BufferSpec& buffer, std::byte* address) {
  static const auto replace_address = reinterpret_cast<decltype(&cuTensorMapReplaceAddress)>(
      driver_function("cuTensorMapReplaceAddress"));
  if (replace_address == nullptr) refuse(buffer, kOldDriver);
  if (replace_address(&map, address) != CUDA_SUCCESS) {
    refuse(buffer, format("the driver refuses the address {}: it must be a multiple of 16",
                          static_cast<void*>(address)));
  }
}

}  // namespace autotune
