// SPDX-License-Identifier: Apache-2.0
// A batch of column-major matrices on the GPU, with what they hold known to the host.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace autotune::gpu_blas {

using Random = std::mt19937_64;

inline int pick(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

/// Throws unless a call of CUDA or cuBLAS succeeded; 0 is success for both.
template <class Status>
void check(Status status, const char* what) {
  if (static_cast<int>(status) == 0) return;
  throw std::runtime_error(std::string(what) + " failed with status " +
                           std::to_string(static_cast<int>(status)));
}

/// How the elements of a batch lie in memory.
struct Extent {
  std::int64_t rows = 0, columns = 0;
  int batch = 1;
  std::int64_t padding = 0;    // elements after each column
  std::int64_t gap = 0;        // elements after each matrix
  std::int64_t misplaced = 0;  // elements before the first
  cudaDataType_t type = CUDA_R_32F;

  std::int64_t leading() const { return rows + padding; }
  std::int64_t stride() const { return leading() * columns + gap; }
  std::int64_t elements() const { return misplaced + stride() * batch; }
  std::int64_t place(std::int64_t row, std::int64_t column, int product) const {
    return misplaced + row + column * leading() + product * stride();
  }
};

/// Random values in -1..1, rounded to the type. Padding and gaps have values, too.
class DeviceMatrix {
 public:
  DeviceMatrix(const Extent& extent, Random& random);
  /// Every element is a NaN: whoever reads it shows.
  static DeviceMatrix poisoned(const Extent& extent);
  DeviceMatrix(DeviceMatrix&& other) noexcept;
  DeviceMatrix& operator=(DeviceMatrix&&) = delete;
  DeviceMatrix(const DeviceMatrix&) = delete;
  DeviceMatrix& operator=(const DeviceMatrix&) = delete;
  ~DeviceMatrix();

  const Extent& extent() const { return extent_; }
  void* address() const;
  /// As they were written at first, by Extent::place.
  const std::vector<double>& values() const { return values_; }
  /// As they are on the GPU now. The caller has waited for whoever writes them.
  std::vector<double> read() const;

 private:
  DeviceMatrix(const Extent& extent, std::vector<double> values);

  Extent extent_;
  std::vector<double> values_;
  void* memory_ = nullptr;
};

}  // namespace autotune::gpu_blas
