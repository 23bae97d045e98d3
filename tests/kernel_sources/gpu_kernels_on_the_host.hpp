// SPDX-License-Identifier: Apache-2.0
// What tests of kernels that are legal on GPUs only need to run them on the host device.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/core/target.hpp"
#include "tuner/host/host_device.hpp"
#include "tuner/model/cost_model.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/text/format.hpp"

namespace autotune::testing {

/// Settings, or values that parameters are to have: `layout=NT scale=beta`.
inline NamedValues named(std::string_view text) { return parse_named_values(text); }

inline NamedValues with(NamedValues values, std::string_view more) {
  const NamedValues all = named(more);
  values.insert(values.end(), all.begin(), all.end());
  return values;
}

/// A GPU of compute capability 8.0, whose spaces are used. It has few multiprocessors, so that
/// small problems have configurations of all kinds.
inline DeviceInfo small_gpu() {
  DeviceInfo gpu;
  gpu.kind = DeviceKind::model;
  gpu.compute_capability = 80;
  gpu.multiprocessors = 4;
  gpu.shared_bytes_per_block = 163 << 10;
  gpu.shared_bytes_per_multiprocessor = 164 << 10;
  gpu.memory_bytes = std::int64_t{1} << 30;
  return gpu;
}

/// One with TMA and wgmma, so few multiprocessors that blocks have several tiles.
inline DeviceInfo small_hopper() {
  DeviceInfo gpu = small_gpu();
  gpu.compute_capability = 90;
  gpu.multiprocessors = 2;
  gpu.shared_bytes_per_block = 227 << 10;
  gpu.shared_bytes_per_multiprocessor = 228 << 10;
  return gpu;
}

/// The host device, with a cache that outlives the test.
inline Device& host() {
  static const std::unique_ptr<Device> device = make_host_device(
      std::make_shared<BuildCache>(AUTOTUNE_BINARY_DIR "/tests/cache"), {.optimization = "-O1"});
  return *device;
}

/// Of one configuration in the space of `gpu`, of which `seed` chooses; `spoil` may change its
/// source. `held`: values that it must have.
inline Verdict verdict_of(const DeviceInfo& gpu, const Target& target, const Problem& problem,
                          std::uint64_t seed, const NamedValues& held,
                          const std::function<void(std::string&)>& spoil = {}) {
  const ParameterSpace space = space_of(with_fixed(target, held), problem, gpu);
  EXPECT_FALSE(space.empty()) << problem.text();
  if (space.empty()) return {Outcome::invalid, "", 0};
  const Configuration configuration =
      space.at((seed * 6364136223846793005u + 1442695040888963407u) / 65536 % space.size());
  SCOPED_TRACE(problem.text() + ": " + to_text(configuration));
  SourceUnit unit = source_unit(target, problem, configuration, gpu);
  if (spoil) spoil(unit.text);
  const CompiledKernel kernel = host().compile(unit);
  EXPECT_EQ(name_of(kernel.outcome), "ok") << kernel.log;
  if (kernel.outcome != Outcome::ok) return {kernel.outcome, kernel.log, 0};
  const auto workbench = host().open(workload_of(target, problem, host().info()));
  return workbench->load(kernel, launch_plan(target, problem, configuration, gpu))->verify();
}

/// A change of a source: the first of one text becomes another.
inline auto spoilt(const std::string& was, const std::string& is) {
  return [=](std::string& text) {
    const std::size_t at = text.find(was);
    ASSERT_NE(at, std::string::npos) << was;
    text.replace(at, was.size(), is);
  };
}

/// The same; `held` are of a Hopper's space.
inline Verdict verdict_of(const Target& target, const Problem& problem, std::uint64_t seed,
                          const NamedValues& held = {},
                          const std::function<void(std::string&)>& spoil = {}) {
  return verdict_of(held.empty() ? small_gpu() : small_hopper(), target, problem, seed, held,
                    spoil);
}

inline void expect_right(const DeviceInfo& gpu, const Target& target, const Problem& problem,
                         std::uint64_t seed, const NamedValues& held) {
  const Verdict verdict = verdict_of(gpu, target, problem, seed, held);
  EXPECT_EQ(name_of(verdict.outcome), "ok") << problem.text() << ": " << verdict.message;
}

inline void expect_right(const Target& target, const Problem& problem, std::uint64_t seed,
                         const NamedValues& held = {}) {
  expect_right(held.empty() ? small_gpu() : small_hopper(), target, problem, seed, held);
}

inline const Target& gemm() {
  static const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  return target;
}

/// M, N, K, batch, lda, ldb, ldc, ldd, the distances of matrices, and alignments, as far as they
/// are not kDefaultSize.
using DistantSizes = std::vector<std::int64_t>;

inline Problem distant_problem(const DistantSizes& given, const NamedValues& settings) {
  const std::vector<std::string> names = size_names(gemm());
  NamedValues sizes, free;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == kDefaultSize) continue;
    (i < gemm().sizes.size() ? sizes : free).push_back({names[i], given[i]});
  }
  Problem problem = problem_of(gemm(), sizes, settings);
  problem.free = free;
  return problem;
}

/// A Hopper's family, with a tile of these rows and columns.
inline NamedValues wgmma_tile(std::int64_t rows, std::int64_t columns, std::int64_t swap,
                              const char* family = "wgmma") {
  return named(
      format("KERNEL={} ROWS={} COLUMNS={} SWAP={} MIN_BLOCKS=1", family, rows, columns, swap));
}

/// The family of i8 and tf32.
inline NamedValues wgmma_tile_along_k(std::int64_t rows, std::int64_t columns, std::int64_t swap) {
  return wgmma_tile(rows, columns, swap, "wgmma_along_k");
}

/// Of 16 bits, where threads copy "rows" or "both" without TMA.
inline NamedValues wgmma_tile_by_threads(std::int64_t rows, std::int64_t columns, std::int64_t swap,
                                         const char* copied = "both") {
  return with(wgmma_tile(rows, columns, swap), format("BY_THREADS={}", copied));
}

/// The same, where the blocks of a cluster share copies, `beside` times `below`. They do so where
/// lines are multiples of 16 but not of 32 bytes.
inline NamedValues wgmma_tile_shared(std::int64_t rows, std::int64_t columns, std::int64_t swap,
                                     std::int64_t beside, std::int64_t below) {
  return with(wgmma_tile(rows, columns, swap), format("BESIDE={} BELOW={}", beside, below));
}

/// What the cost model says of the only configuration of `part`.
inline double predicted_us(const Target& part, const Problem& problem, const char* gpu) {
  const DeviceInfo device = device_info(find_gpu(gpu));
  const ParameterSpace space = space_of(part, problem, device);
  EXPECT_EQ(space.size(), 1U) << problem.text();
  if (space.empty()) return 0;
  return CostModel(part, problem, space, device).estimate(0).seconds * 1e6;
}

inline void expect_near(double predicted, double measured, double factor) {
  EXPECT_GT(predicted, measured / factor);
  EXPECT_LT(predicted, measured * factor);
}

}  // namespace autotune::testing
