// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/blas/device_matrix.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstring>
#include <limits>
#include <utility>

namespace autotune::gpu_blas {
namespace {

std::size_t bytes_of(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

float decoded(const char* from, cudaDataType_t type) {
  if (type == CUDA_R_32F) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  unsigned short bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  if (type == CUDA_R_16F) return __half2float(__half(__half_raw{bits}));
  return __bfloat162float(__nv_bfloat16(__nv_bfloat16_raw{bits}));
}

void encode(float value, cudaDataType_t type, char* to) {
  if (type == CUDA_R_32F) {
    std::memcpy(to, &value, sizeof value);
    return;
  }
  const unsigned short bits = type == CUDA_R_16F
                                  ? static_cast<__half_raw>(__float2half_rn(value)).x
                                  : static_cast<__nv_bfloat16_raw>(__float2bfloat16_rn(value)).x;
  std::memcpy(to, &bits, sizeof bits);
}

std::vector<double> random_values(const Extent& extent, Random& random) {
  std::uniform_real_distribution<float> anything(-1, 1);
  std::vector<double> values(static_cast<std::size_t>(extent.elements()));
  char rounded[4];
  for (double& value : values) {
    encode(anything(random), extent.type, rounded);
    value = decoded(rounded, extent.type);
  }
  return values;
}

}  // namespace

DeviceMatrix::DeviceMatrix(const Extent& extent, std::vector<double> values)
    : extent_(extent), values_(std::move(values)) {
  const std::size_t bytes = bytes_of(extent.type);
  std::vector<char> encoded(values_.size() * bytes);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    encode(static_cast<float>(values_[i]), extent.type, encoded.data() + i * bytes);
  }
  check(cudaMalloc(&memory_, encoded.size()), "cudaMalloc");
  check(cudaMemcpy(memory_, encoded.data(), encoded.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaStreamSynchronize(nullptr), "cudaMemcpy");  // other streams do not wait for it
}

DeviceMatrix::DeviceMatrix(const Extent& extent, Random& random)
    : DeviceMatrix(extent, random_values(extent, random)) {}

DeviceMatrix DeviceMatrix::poisoned(const Extent& extent) {
  return {extent, std::vector<double>(static_cast<std::size_t>(extent.elements()),
                                      std::numeric_limits<double>::quiet_NaN())};
}

DeviceMatrix::DeviceMatrix(DeviceMatrix&& other) noexcept
    : extent_(other.extent_),
      values_(std::move(other.values_)),
      memory_(std::exchange(other.memory_, nullptr)) {}

DeviceMatrix::~DeviceMatrix() { cudaFree(memory_); }

void* DeviceMatrix::address() const {
  return static_cast<char*>(memory_) +
         static_cast<std::size_t>(extent_.misplaced) * bytes_of(extent_.type);
}

std::vector<double> DeviceMatrix::read() const {
  const std::size_t bytes = bytes_of(extent_.type);
  std::vector<char> encoded(values_.size() * bytes);
  check(cudaMemcpy(encoded.data(), memory_, encoded.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::vector<double> values(values_.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = decoded(encoded.data() + i * bytes, extent_.type);
  }
  return values;
}

}  // namespace autotune::gpu_blas
