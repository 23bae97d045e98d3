// SPDX-License-Identifier: Apache-2.0
// What the benchmark found, as a table for a person.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/gemm/race.hpp"

namespace autotune::bench {

/// D[m,n] = A[m,k] B[k,n].
struct Shape {
  std::int64_t m = 1, n = 1, k = 1;
  double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// Of A, B and D, once each.
  double bytes() const {
    const auto m_ = static_cast<double>(m), n_ = static_cast<double>(n),
               k_ = static_cast<double>(k);
    return sizeof(float) * (m_ * k_ + k_ * n_ + m_ * n_);
  }
  /// `512`, or `1037x1031x1055` when the sizes differ.
  std::string text() const;
  bool is_square() const { return m == n && n == k; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// How far a result is from float64's.
struct Accuracy {
  std::uint64_t wrong = 0;  // elements outside the bound (tolerance * u * |A||B|), or NaN
  double worst = 0;         // the largest error in units of that bound
  double frobenius = 0;     // relative error of the whole
  bool is_right() const { return wrong == 0 && frobenius <= 2e-6; }
};

/// One who took part, and what one call of it launches.
struct Rival {
  std::string name;                  // `cublasSgemm`
  std::string choice;                // our configuration, cublasLt's algorithm
  std::vector<std::string> kernels;  // names, in order
  Accuracy accuracy;
};

struct SizeResult {
  Shape shape;
  std::vector<Rival> rivals;  // in the order of the races
  Standing hot, cold;
};

struct Report {
  std::string device, environment;
  double ffma_flops = 0;     // a second, of a loop that does nothing else
  double copy_bytes = 0;     // a second, read and written by a device copy
  double empty_seconds = 0;  // an empty kernel in the same graph
  std::vector<SizeResult> sizes;
  std::vector<Shape> skipped;       // the database has no configuration for them
  std::vector<std::string> failed;  // one sentence each
};

/// Sizes whose ratios are averaged.
struct Group {
  std::string name;
  std::vector<Shape> shapes;
};
const std::vector<Group>& groups();

/// Geometric mean of the ratios of those of the group that were measured; `count` 0: none was.
struct GroupMean {
  int count = 0;
  double hot = 0, cold = 0;
};
GroupMean mean_of(const Report& report, const Group& group);

/// A kernel's name as a person reads it: `_ZN8cublasLt19splitKreduce_kernelILi32E…` is
/// `cublasLt::splitKreduce_kernel<32, …>`, without its arguments.
std::string readable_name(const std::string& kernel);

/// Who ran what at one size, a line each: ours, cublasSgemm, the best of cublasLt.
std::string launched_text(const SizeResult& size);
/// One row a size, then the means, the share of a copy's speed where memory is the limit, and the
/// sizes at which cuBLAS wins.
std::string table_text(const Report& report);

/// Everything as JSON, times in microseconds.
std::string json_text(const Report& report);
/// Two plots over the square sizes: TFLOP/s, and the ratios.
std::string svg_text(const Report& report);

}  // namespace autotune::bench
