// SPDX-License-Identifier: Apache-2.0
// Kernels that read textures, checked against the rules of the CUDA programming guide in plain
// code, the same on every device.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tuner/core/device.hpp"

namespace autotune::testing {

/// Reads between and beyond the texels, never where one of two is as near as the other.
inline constexpr const char* kReadTexture = R"(
extern "C" __global__ void kernel(cudaTextureObject_t tex, float* out, int width, int height) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 4 * width * height) return;
  const float x = (i % (2 * width)) * 1.3f - width * 0.713f;
  const float y = (i / (2 * width)) * 1.1f - height * 0.613f;
  out[i] = tex2D<float>(tex, NORMALIZED ? x / width : x, NORMALIZED ? y / height : y);
}
)";

inline constexpr const char* kReadPlainly = R"(
__device__ int place(int i, int size) {
  if (i >= 0 && i < size) return i;
  if (ADDRESS == 1) return -1;
  if (ADDRESS == 2) return (i % size + size) % size;
  if (ADDRESS == 3) {
    const int at = (i % (2 * size) + 2 * size) % (2 * size);
    return at < size ? at : 2 * size - 1 - at;
  }
  return i < 0 ? 0 : size - 1;
}
__device__ double texel(const float* image, int x, int y, int width, int height) {
  const int column = place(x, width), row = place(y, height);
  return column < 0 || row < 0 ? 0 : image[row * width + column];
}
extern "C" __global__ void reference(const float* image, double* out, int width, int height) {
  for (int i = 0; i < 4 * width * height; ++i) {
    const float x = (i % (2 * width)) * 1.3f - width * 0.713f;
    const float y = (i / (2 * width)) * 1.1f - height * 0.613f;
    if (!LINEAR) {
      out[i] = texel(image, int(floorf(x)), int(floorf(y)), width, height);
      continue;
    }
    const float left = floorf(x - 0.5f), top = floorf(y - 0.5f);
    const double across = x - 0.5 - left, down = y - 0.5 - top;
    const int c = int(left), r = int(top);
    out[i] = (1 - down) * ((1 - across) * texel(image, c, r, width, height) +
                           across * texel(image, c + 1, r, width, height)) +
             down * ((1 - across) * texel(image, c, r + 1, width, height) +
                     across * texel(image, c + 1, r + 1, width, height));
  }
}
)";

/// The verdict on a texture of 32 x 20 that is read by tex2D().
inline Verdict texture_verdict(Device& device, Texture texture) {
  constexpr std::int64_t kWidth = 32, kHeight = 20;
  texture.buffer = 0;
  texture.dims = {kWidth, kHeight};
  const std::string prelude = "#define ADDRESS " + std::to_string(int(texture.address)) +
                              "\n#define LINEAR " + std::to_string(int(texture.filter)) +
                              "\n#define NORMALIZED " + std::to_string(int(texture.normalized)) +
                              "\n";
  const Scalar width{ElementType::i32, kWidth, 0}, height{ElementType::i32, kHeight, 0};
  Workload workload;
  workload.problem = "texture";
  workload.buffers = {{"image", ElementType::f32, kWidth * kHeight, Role::input},
                      {"out", ElementType::f32, 4 * kWidth * kHeight, Role::output}};
  // Weights have 8 bits; a coordinate that is scaled twice may round to the next.
  workload.buffers[1].absolute = texture.filter == TextureFilter::linear ? 0.04 : 0;
  workload.reference_source = {"reference.cu", prelude, kReadPlainly, {}, {}, {"reference"}};
  workload.reference.launches = {
      {"reference", {1}, {1}, {}, 0, {BufferRef{0}, BufferRef{1}, width, height}}};
  const auto bench = device.open(workload);
  const CompiledKernel kernel =
      device.compile({"kernel.cu", prelude, kReadTexture, {}, {}, {"kernel"}});
  if (kernel.outcome != Outcome::ok) return {kernel.outcome, kernel.log};
  const Launch launch{"kernel", {40}, {64}, {}, 0, {texture, BufferRef{1}, width, height}};
  return bench->load(kernel, {{}, {launch}})->verify();
}

/// Expects of each filter, address and kind of coordinates that CUDA knows that it is right.
inline void expect_textures_are_read(Device& device) {
  using enum TextureAddress;
  std::vector<Texture> all;
  for (const TextureFilter filter : {TextureFilter::point, TextureFilter::linear}) {
    for (const TextureAddress address : {clamp, border}) {
      all.push_back({0, {}, 1, filter, address, false});
    }
  }
  for (const TextureAddress address : {clamp, border, wrap, mirror}) {
    all.push_back({0, {}, 1, TextureFilter::linear, address, true});
  }
  for (const Texture& texture : all) {
    const Verdict verdict = texture_verdict(device, texture);
    EXPECT_EQ(verdict.outcome, Outcome::ok)
        << verdict.message << "; filter " << int(texture.filter) << ", address "
        << int(texture.address) << ", normalized " << texture.normalized;
  }
}

/// The verdict on a texture of pairs of one dimension, read by tex1Dfetch().
inline Verdict fetch_verdict(Device& device) {
  constexpr std::int64_t kTexels = 1000;
  const Scalar texels{ElementType::i32, kTexels, 0};
  Workload workload;
  workload.problem = "texture of one dimension";
  workload.buffers = {{"pairs", ElementType::i32, 2 * kTexels, Role::input},
                      {"out", ElementType::i32, kTexels, Role::output}};
  workload.reference_source = {"reference.cu", "", R"(
extern "C" __global__ void reference(const int* pairs, int* out, int n) {
  for (int i = 0; i < n; ++i) out[i] = i == n - 1 ? 0 : pairs[2 * i] - pairs[2 * i + 3];
})", {}, {}, {"reference"}};
  workload.reference.launches = {
      {"reference", {1}, {1}, {}, 0, {BufferRef{0}, BufferRef{1}, texels}}};
  const auto bench = device.open(workload);
  const CompiledKernel kernel = device.compile({"kernel.cu",
                                                "",
                                                R"(
extern "C" __global__ void kernel(cudaTextureObject_t tex, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int2 next = tex1Dfetch<int2>(tex, i + 1);
  out[i] = i == n - 1 ? next.x : tex1Dfetch<int2>(tex, i).x - next.y;
})",
                                                {},
                                                {},
                                                {"kernel"}});
  if (kernel.outcome != Outcome::ok) return {kernel.outcome, kernel.log};
  const Texture texture{0, {kTexels}, 2};
  const Launch launch{"kernel", {16}, {64}, {}, 0, {texture, BufferRef{1}, texels}};
  return bench->load(kernel, {{}, {launch}})->verify();
}

}  // namespace autotune::testing
