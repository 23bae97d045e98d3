// SPDX-License-Identifier: Apache-2.0
// Private to this folder: the arguments of a launch, as they lie in memory.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tuner/core/launch.hpp"

namespace autotune {

// TMA descriptors.

/// The descriptor of a buffer at `address`. Throws KernelFailure (launch_error) if the driver
/// refuses it; the message lists its rules.
CUtensorMap encode(const TensorMap& map, const BufferSpec& buffer, std::byte* address);

/// The same descriptor for another address. Throws as encode().
void move_to(CUtensorMap& map, const BufferSpec& buffer, std::byte* address);

// Texture objects.

/// Owns a texture object of the current device.
class TextureObject {
 public:
  /// Over a buffer at `address`. Throws KernelFailure (launch_error) if CUDA refuses it; the
  /// message lists its rules.
  TextureObject(const Texture& texture, const BufferSpec& buffer, std::byte* address);
  TextureObject(TextureObject&& other) noexcept : object_(std::exchange(other.object_, 0)) {}
  TextureObject& operator=(TextureObject&&) = delete;
  ~TextureObject();

  cudaTextureObject_t get() const { return object_; }

 private:
  cudaTextureObject_t object_ = 0;
};

/// Not copyable, because pointers refer to the values.
class PassedValues {
 public:
  /// `addresses` and `buffers` are the workload's, then the plan's workspace. Throws KernelFailure
  /// (launch_error) where an argument cannot be passed.
  PassedValues(const Launch& launch, std::span<std::byte* const> addresses,
               std::span<const BufferSpec> buffers);
  PassedValues(const PassedValues&) = delete;
  PassedValues& operator=(const PassedValues&) = delete;

  /// Replaces the address of a buffer wherever it is passed. Throws KernelFailure (launch_error) if
  /// a tensor map refuses it; the arguments are undefined then.
  void move(std::uint32_t buffer, std::byte* address);
  /// Replaces the value of the scalars with this name. The types must agree.
  void set(const Scalar& scalar);

  /// One pointer an argument, as a launch takes them.
  void** pointers() const { return const_cast<void**>(pointers_.data()); }

 private:
  struct alignas(64) Slot {
    std::array<std::byte, 128> bytes;
  };
  struct Address {
    std::uint32_t buffer;
    Slot* slot;
  };
  struct Map {
    std::uint32_t buffer;
    BufferSpec spec;  // of the buffer
    Slot* slot;
  };
  /// A texture object for each address that the buffer had. Graphs may still use earlier ones.
  struct Sampled {
    Texture texture;
    BufferSpec spec;  // of the buffer
    Slot* slot;
    std::map<std::byte*, TextureObject> objects = {};
    void move(std::byte* address);
  };
  struct Named {
    std::string name;
    std::byte* at;
  };
  /// The bytes of a struct.
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };

  void put(const Argument& argument, std::span<std::byte* const> addresses,
           std::span<const BufferSpec> buffers);

  void put(const Record& record);

  std::deque<Slot> slots_;
  std::deque<std::vector<Line>> records_;
  std::vector<void*> pointers_;
  std::vector<Address> addresses_;
  std::vector<Map> maps_;
  std::vector<Sampled> textures_;
  std::vector<Named> named_;
};

}  // namespace autotune
