// SPDX-License-Identifier: Apache-2.0
// The benchmark's results as a table.
#pragma once

#include <cstdint>
#include <optional>
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
  /// Bytes of A, B and D, once each.
  double bytes() const {
    const auto m_ = static_cast<double>(m), n_ = static_cast<double>(n),
               k_ = static_cast<double>(k);
    return sizeof(float) * (m_ * k_ + k_ * n_ + m_ * n_);
  }
  /// From 2048 on: the GPU's power limit may show.
  bool is_long() const { return flops() >= 2.0 * 2048 * 2048 * 2048; }
  /// `512`, or `1037x1031x1055` if the sizes differ.
  std::string text() const;
  bool is_square() const { return m == n && n == k; }
  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Error of a result against float64.
struct Accuracy {
  std::uint64_t wrong = 0;  // elements outside the bound (tolerance * u * |A||B|), or NaN
  double worst = 0;         // largest error / bound
  double frobenius = 0;     // relative error in the Frobenius norm
  bool is_right() const { return wrong == 0 && frobenius <= 2e-6; }
};

/// How the nodes of a CUDA graph depend on each other.
struct GraphEdges {
  int full = 0;          // the node ahead must have ended
  int programmatic = 0;  // the kernel ahead lets the one behind start early
  friend bool operator==(const GraphEdges&, const GraphEdges&) = default;
};

/// Calls whose edges are counted.
inline constexpr int kEdgeCalls = 8;

/// An implementation, and the kernels of one call.
struct ImplementationInfo {
  std::string name;                  // `cublasSgemm`
  std::string choice;                // our configuration, cublasLt's algorithm
  std::vector<std::string> kernels;  // names, in order
  Accuracy accuracy;
  GraphEdges chain_edges = {}, between_edges = {};  // of kEdgeCalls calls
};

/// `hot` and `cold` are of a chain; `between` and `alone` have a hot L2 cache.
struct SizeResult {
  Shape shape;
  std::vector<ImplementationInfo> implementations;  // in the order of the races
  Standing hot, cold, between = {}, alone = {};
  /// Ours, cublasSgemm and the best of cublasLt, each with the GPU to itself; of long products.
  std::optional<Standing> rested = {}, sustained = {};
};

struct Report {
  std::string device, environment;
  double ffma_flops = 0;     // per second, of a loop of FFMAs
  double copy_bytes = 0;     // per second, read and written by a device copy
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

/// Geometric mean of the ratios of a group's measured sizes; `count` is their number.
struct GroupMean {
  int count = 0;
  double hot = 0, cold = 0, between = 0, alone = 0;
};
GroupMean mean_of(const Report& report, const Group& group);

/// A readable kernel name: `_ZN8cublasLt19splitKreduce_kernelILi32E…` becomes
/// `cublasLt::splitKreduce_kernel<32, …>`, without its arguments.
std::string readable_name(const std::string& kernel);

/// The kernels at one size, one line each: ours, cublasSgemm, the best of cublasLt.
std::string launched_text(const SizeResult& size);
/// One row per size, the same by contexts, then the means, the share of copy bandwidth for
/// memory-bound sizes, and the sizes where cuBLAS is faster.
std::string table_text(const Report& report);

/// Everything as JSON, times in microseconds.
std::string json_text(const Report& report);
/// Two plots over the square sizes: TFLOP/s, and the ratios.
std::string svg_text(const Report& report);

}  // namespace autotune::bench
