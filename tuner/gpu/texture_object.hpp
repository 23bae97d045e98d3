// SPDX-License-Identifier: Apache-2.0
// Private to this folder: texture objects.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

#include "tuner/core/launch.hpp"

namespace autotune {

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

}  // namespace autotune
