// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/passed_values.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

#include "tuner/core/device.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/gpu/cuda_handles.hpp"
#include "tuner/gpu/on_device.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

template <class Slot, class Value>
void write(Slot& slot, const Value& value) {
  static_assert(sizeof(Value) <= sizeof(slot.bytes));
  std::memcpy(slot.bytes.data(), &value, sizeof(Value));
}

/// Throws KernelFailure (launch_error) if the argument should be one of `count` buffers and is not.
void require_buffer(const Launch& launch, const Argument& argument, std::size_t count) {
  const auto* const reference = std::get_if<BufferRef>(&argument);
  const auto* const map = std::get_if<TensorMap>(&argument);
  const auto* const texture = std::get_if<Texture>(&argument);
  if (!reference && !map && !texture) return;
  const std::uint32_t index = reference ? reference->index : map ? map->buffer : texture->buffer;
  if (index < count) return;
  throw KernelFailure(Outcome::launch_error,
                      format("{}: there is no buffer number {}", launch.entry, index));
}

}  // namespace

PassedValues::PassedValues(const Launch& launch, std::span<std::byte* const> addresses,
                           std::span<const BufferSpec> buffers) {
  const std::size_t count = std::min(addresses.size(), buffers.size());
  for (const Argument& argument : launch.arguments) {
    require_buffer(launch, argument, count);
    put(argument, addresses, buffers);
  }
}

void PassedValues::put(const Argument& argument, std::span<std::byte* const> addresses,
                       std::span<const BufferSpec> buffers) {
  if (const auto* record = std::get_if<Record>(&argument)) return put(*record);
  Slot& slot = slots_.emplace_back();
  pointers_.push_back(slot.bytes.data());
  if (const auto* reference = std::get_if<BufferRef>(&argument)) {
    addresses_.push_back({reference->index, &slot});
    write(slot, addresses[reference->index]);
  } else if (const auto* map = std::get_if<TensorMap>(&argument)) {
    static_assert(sizeof(CUtensorMap) == kTensorMapBytes);
    maps_.push_back({map->buffer, buffers[map->buffer], &slot});
    write(slot, encode(*map, buffers[map->buffer], addresses[map->buffer]));
  } else if (const auto* texture = std::get_if<Texture>(&argument)) {
    textures_.push_back({*texture, buffers[texture->buffer], &slot});
    textures_.back().move(addresses[texture->buffer]);
  } else {
    const auto& scalar = std::get<Scalar>(argument);
    if (!scalar.name.empty()) named_.push_back({scalar.name, slot.bytes.data()});
    write(slot, memory_of(scalar));
  }
}

void PassedValues::put(const Record& record) {
  const std::vector<std::byte> bytes = memory_of(record);
  std::vector<Line>& lines = records_.emplace_back(bytes.size() / sizeof(Line) + 1);
  auto* const memory = lines.front().bytes.data();
  std::memcpy(memory, bytes.data(), bytes.size());
  pointers_.push_back(memory);
  for (const Record::Field& each : record.fields) {
    named_.push_back({each.value.name, memory + each.offset});
  }
}

void PassedValues::move(std::uint32_t buffer, std::byte* address) {
  for (const Address& each : addresses_) {
    if (each.buffer == buffer) write(*each.slot, address);
  }
  for (const Map& each : maps_) {
    if (each.buffer != buffer) continue;
    CUtensorMap map;
    std::memcpy(&map, each.slot->bytes.data(), sizeof map);
    move_to(map, each.spec, address);
    write(*each.slot, map);
  }
  for (Sampled& each : textures_) {
    if (each.texture.buffer == buffer) each.move(address);
  }
}

void PassedValues::Sampled::move(std::byte* address) {
  auto found = objects.find(address);
  if (found == objects.end()) {
    found = objects.emplace(address, TextureObject(texture, spec, address)).first;
  }
  write(*slot, found->second.get());
}

void PassedValues::set(const Scalar& scalar) {
  for (const Named& each : named_) {
    if (each.name != scalar.name) continue;
    std::memcpy(each.at, memory_of(scalar).data(), static_cast<std::size_t>(bytes_of(scalar.type)));
  }
}

namespace {

/// In the order of ElementType.
constexpr std::array kMapTypes{CU_TENSOR_MAP_DATA_TYPE_FLOAT32, CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
                               CU_TENSOR_MAP_DATA_TYPE_INT32,   CU_TENSOR_MAP_DATA_TYPE_INT64,
                               CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                               CU_TENSOR_MAP_DATA_TYPE_UINT8,   CU_TENSOR_MAP_DATA_TYPE_UINT8,
                               CU_TENSOR_MAP_DATA_TYPE_UINT16,  CU_TENSOR_MAP_DATA_TYPE_UINT16,
                               CU_TENSOR_MAP_DATA_TYPE_UINT32,  CU_TENSOR_MAP_DATA_TYPE_UINT64,
                               CU_TENSOR_MAP_DATA_TYPE_UINT8,   CU_TENSOR_MAP_DATA_TYPE_UINT8};

CUtensorMapDataType type_of(const TensorMap& map, ElementType type) {
  const bool is_rounded = map.tf32 && type == ElementType::f32;
  return is_rounded ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : kMapTypes[static_cast<std::size_t>(type)];
}

CUtensorMapSwizzle swizzle_of(int bytes) {
  return bytes == 32    ? CU_TENSOR_MAP_SWIZZLE_32B
         : bytes == 64  ? CU_TENSOR_MAP_SWIZZLE_64B
         : bytes == 128 ? CU_TENSOR_MAP_SWIZZLE_128B
                        : CU_TENSOR_MAP_SWIZZLE_NONE;
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

namespace {

cudaChannelFormatDesc format_of(ElementType type, int channels) {
  const auto bits = static_cast<int>(8 * bytes_of(type));
  const auto kind = is_floating(type) ? cudaChannelFormatKindFloat : cudaChannelFormatKindSigned;
  const bool two = channels > 1, four = channels > 2;
  return {bits, two ? bits : 0, four ? bits : 0, four ? bits : 0, kind};
}

cudaResourceDesc resource_of(const Texture& texture, const BufferSpec& buffer, void* address) {
  cudaResourceDesc resource{};
  const auto texel_bytes = static_cast<std::size_t>(texture.channels * bytes_of(buffer.type));
  const auto width = static_cast<std::size_t>(texture.dims[0]);
  const cudaChannelFormatDesc format = format_of(buffer.type, texture.channels);
  if (texture.dims.size() == 1) {
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {address, format, width * texel_bytes};
  } else {
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {address, format, width, static_cast<std::size_t>(texture.dims[1]),
                            width * texel_bytes};
  }
  return resource;
}

cudaTextureAddressMode mode_of(TextureAddress address) {
  switch (address) {
    case TextureAddress::border:
      return cudaAddressModeBorder;
    case TextureAddress::wrap:
      return cudaAddressModeWrap;
    case TextureAddress::mirror:
      return cudaAddressModeMirror;
    case TextureAddress::clamp:
      break;
  }
  return cudaAddressModeClamp;
}

cudaTextureDesc sampling_of(const Texture& texture) {
  cudaTextureDesc sampling{};
  for (cudaTextureAddressMode& mode : sampling.addressMode) mode = mode_of(texture.address);
  sampling.filterMode =
      texture.filter == TextureFilter::linear ? cudaFilterModeLinear : cudaFilterModePoint;
  sampling.readMode = cudaReadModeElementType;
  sampling.normalizedCoords = texture.normalized ? 1 : 0;
  return sampling;
}

}  // namespace

TextureObject::TextureObject(const Texture& texture, const BufferSpec& buffer, std::byte* address) {
  const RelaxedCapture relaxed;
  const cudaResourceDesc resource = resource_of(texture, buffer, address);
  const cudaTextureDesc sampling = sampling_of(texture);
  const cudaError_t error = cudaCreateTextureObject(&object_, &resource, &sampling, nullptr);
  if (error == cudaSuccess) return;
  cudaGetLastError();
  throw KernelFailure(
      Outcome::launch_error,
      autotune::format("texture of {}: CUDA refuses it ({}): the buffer must lie at a multiple of "
                       "512 bytes, a row of two dimensions have a multiple of 32 bytes, and one "
                       "dimension at most 2^27 texels",
                       buffer.name, cudaGetErrorString(error)));
}

TextureObject::~TextureObject() {
  if (object_ != 0) static_cast<void>(cudaDestroyTextureObject(object_));
}

}  // namespace autotune
