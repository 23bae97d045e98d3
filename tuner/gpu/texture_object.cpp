// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/texture_object.hpp"

#include "tuner/core/device.hpp"
#include "tuner/gpu/stream_capture.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
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
