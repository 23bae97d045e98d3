// SPDX-License-Identifier: Apache-2.0
#include "bench/lookup/shape_race.hpp"

#include <algorithm>
#include <array>
#include <iostream>

#include "tuner/core/error.hpp"
#include "tuner/gpu/cuda_workbench.hpp"
#include "tuner/target/catalog.hpp"
#include "tuner/text/format.hpp"

namespace autotune::bench {
namespace {

constexpr int kRounds = 9;
constexpr double kBatchSeconds = 300e-6;
constexpr std::int64_t kNeighbourLength = 16384;  // floats: 64 KiB

std::unique_ptr<CudaContext> open_gpu() {
  const std::vector<DeviceInfo> devices = cuda_devices();
  if (devices.empty()) throw Error("there is no CUDA GPU here, or no driver for it");
  const auto cache = std::make_shared<BuildCache>(BuildCache::default_folder());
  return std::make_unique<CudaContext>(0, devices.front(),
                                       CubinCompiler(devices.front().compute_capability, cache),
                                       OpenBaseline{}, CountCalls{});
}

EnqueueOnce call_of(Kernel kernel, std::vector<void*> addresses) {
  return [kernel = std::move(kernel), addresses = std::move(addresses)](cudaStream_t stream, int) {
    check(autotune_launch(kernel.get(), addresses.data(), addresses.size(), stream));
  };
}

}  // namespace

void check(autotune_status status) {
  if (status != AUTOTUNE_OK) throw Error(autotune_message());
}

Handle opened(const Opening& opening) {
  autotune_options request{};
  request.size = sizeof request;
  request.target = opening.target.c_str();
  request.user_database = opening.database.c_str();
  if (!opening.shipped) request.shipped_database = "";
  request.first_use_ms = opening.first_use_ms;
  request.settings = opening.settings.c_str();
  request.tuned_only = opening.tuned_only;
  autotune_handle* handle = nullptr;
  check(autotune_open(&request, &handle));
  std::cerr << autotune_warnings(handle);
  return {handle, &autotune_close};
}

Kernel prepared(autotune_handle* handle, std::span<const std::int64_t> sizes) {
  autotune_kernel* kernel = nullptr;
  check(autotune_prepare(handle, sizes.data(), sizes.size(), &kernel));
  return {kernel, &autotune_release};
}

ShapeRace::ShapeRace(bool between, const std::string& database)
    : between_(between),
      context_(open_gpu()),
      kernels_(*context_),
      vendor_(context_->stream.get()),
      target_(find_target("gemm")),
      add_(opened({.target = "vector_add", .database = database})),
      memory_(3 * kNeighbourLength * sizeof(float)) {
  auto* const at = memory_.as<float>();
  const std::array sizes{kNeighbourLength};
  neighbour_ =
      call_of(prepared(add_.get(), sizes), {at, at + kNeighbourLength, at + 2 * kNeighbourLength});
}

Operands ShapeRace::operands(const Shape& shape) const {
  const Problem problem = problem_of(target_, {{"M", shape.m}, {"N", shape.n}, {"K", shape.k}}, {});
  return {*context_, kernels_, target_, problem, shape};
}

Implementation ShapeRace::tuned(const Kernel& kernel, const Operands& operands) const {
  const std::vector<std::byte*> addresses = operands.addresses(0);
  return {autotune_kernel_configuration(kernel.get()),
          call_of(kernel, {addresses.begin(), addresses.end()})};
}

std::vector<Implementation> ShapeRace::vendor(const Operands& operands) const {
  std::vector<Implementation> all;
  for (VendorCall& each : vendor_.calls(operands)) {
    all.push_back({std::move(each.name), std::move(each.call)});
  }
  return all;
}

std::vector<double> ShapeRace::seconds(const Operands& operands,
                                       const std::vector<Implementation>& implementations) const {
  std::vector<EnqueueOnce> chains;
  for (const Implementation& each : implementations) {
    const Accuracy accuracy = operands.judge([&](cudaStream_t stream) { each.call(stream, 0); });
    if (!accuracy.is_right()) throw Error(format("{} is wrong", each.name));
    chains.push_back(!between_ ? each.call
                               : EnqueueOnce([this, &each](cudaStream_t stream, int copy) {
                                   neighbour_(stream, 0);
                                   each.call(stream, copy);
                                 }));
  }
  if (!between_) return medians(chains);
  chains.push_back(neighbour_);
  std::vector<double> times = medians(chains);
  const double neighbour = times.back();
  times.pop_back();
  for (double& time : times) time -= neighbour;
  return times;
}

/// Of a call in each chain.
std::vector<double> ShapeRace::medians(const std::vector<EnqueueOnce>& chains) const {
  const BatchTimer& timer = *context_->timer;
  std::vector<GraphExec> graphs;
  std::vector<Chain> batches;
  for (const EnqueueOnce& chain : chains) {
    const Chain brief{chain, 4, 1};
    const double once = timer.replay(timer.prepare(brief).get(), brief).seconds;
    const int launches = std::clamp(static_cast<int>(kBatchSeconds / once), 8, 200);
    batches.push_back({chain, launches, 1});
    graphs.push_back(timer.prepare(batches.back()));
  }
  std::vector<std::vector<double>> times(chains.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      times[i].push_back(timer.replay(graphs[i].get(), batches[i]).seconds);
    }
  }
  std::vector<double> result;
  for (std::vector<double>& each : times) {
    std::ranges::sort(each);
    result.push_back(each[each.size() / 2]);
  }
  return result;
}

}  // namespace autotune::bench
