// SPDX-License-Identifier: Apache-2.0
// Texture objects for kernels on the host: tex1Dfetch() and tex2D(). Filters as the CUDA
// programming guide specifies, with 8-bit weights.
#pragma once

typedef unsigned long long cudaTextureObject_t;

namespace autotune_host {

inline const Texture& texture_of(cudaTextureObject_t object) {
  return *reinterpret_cast<const Texture*>(object);
}

/// Where a coordinate lies in 0 ... size - 1; -1 beyond a border.
inline long long texel_index(int address, long long i, long long size) {
  if (i >= 0 && i < size) return i;
  if (address == 1) return -1;
  if (address == 2) return (i % size + size) % size;
  if (address == 3) {
    const long long at = (i % (2 * size) + 2 * size) % (2 * size);
    return at < size ? at : 2 * size - 1 - at;
  }
  return i < 0 ? 0 : size - 1;
}

template <class T>
T texel(const Texture& texture, float x, float y) {
  const long long column = texel_index(texture.address, static_cast<long long>(x), texture.width);
  const long long row = texel_index(texture.address, static_cast<long long>(y), texture.height);
  if (column < 0 || row < 0) return T{};
  return static_cast<const T*>(texture.texels)[row * texture.width + column];
}

/// Integers are not filtered.
template <class T>
T blend(T a, T, float) {
  return a;
}
inline float blend(float a, float b, float weight) { return (1 - weight) * a + weight * b; }
inline float2 blend(float2 a, float2 b, float weight) {
  return {blend(a.x, b.x, weight), blend(a.y, b.y, weight)};
}
inline float4 blend(float4 a, float4 b, float weight) {
  return {blend(a.x, b.x, weight), blend(a.y, b.y, weight), blend(a.z, b.z, weight),
          blend(a.w, b.w, weight)};
}

inline float texel_weight(float distance) { return rintf(distance * 256) / 256; }

template <class T>
T filtered(const Texture& texture, float x, float y) {
  const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
  const float across = texel_weight(x - 0.5f - left), down = texel_weight(y - 0.5f - top);
  return blend(
      blend(texel<T>(texture, left, top), texel<T>(texture, left + 1, top), across),
      blend(texel<T>(texture, left, top + 1), texel<T>(texture, left + 1, top + 1), across), down);
}

}  // namespace autotune_host

template <class T>
T tex1Dfetch(cudaTextureObject_t object, int i) {
  const autotune_host::Texture& texture = autotune_host::texture_of(object);
  return i < 0 || i >= texture.width ? T{} : static_cast<const T*>(texture.texels)[i];
}

template <class T>
T tex2D(cudaTextureObject_t object, float x, float y) {
  const autotune_host::Texture& texture = autotune_host::texture_of(object);
  if (texture.normalized) {
    x *= static_cast<float>(texture.width);
    y *= static_cast<float>(texture.height);
  }
  return texture.linear ? autotune_host::filtered<T>(texture, x, y)
                        : autotune_host::texel<T>(texture, floorf(x), floorf(y));
}
