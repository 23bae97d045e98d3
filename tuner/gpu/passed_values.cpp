// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/passed_values.hpp"

#include <algorithm>
#include <cstring>
#include <variant>

#include "tuner/core/device.hpp"
#include "tuner/core/kernel_arguments.hpp"
#include "tuner/gpu/tensor_map.hpp"
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

}  // namespace autotune
