// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/places.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// While one problem waits for its compilers, kernels of the other run.
constexpr std::size_t kPlaces = 2;

/// Two problems fit if the buffers of each take no more than this share of the memory: inputs,
/// results and references are allocated several times.
constexpr std::int64_t kMemoryShare = 16;

}  // namespace

std::int64_t buffer_bytes(const Target& target, const Problem& problem, const DeviceInfo& device) {
  std::int64_t bytes = 0;
  for (const BufferSpec& buffer : buffers_of(target, problem, device)) bytes += buffer.bytes();
  return bytes;
}

std::size_t places_of_each(const Target& target, const TuningRequest& request,
                           std::span<Device* const> devices) {
  if (request.problems.size() <= devices.size()) return 1;
  const auto takes_turns = [](const Device* device) { return device->takes_turns(); };
  if (!std::ranges::all_of(devices, takes_turns)) return 1;
  const DeviceInfo& info = devices[0]->info();
  const auto fits = [&](const Problem& problem) {
    return buffer_bytes(target, problem, info) <= info.memory_bytes / kMemoryShare;
  };
  return std::ranges::all_of(request.problems, fits) ? kPlaces : 1;
}

ProblemQueue queue_of(const Target& target, const TuningRequest& request, const DeviceInfo& device,
                      std::size_t places) {
  const bool is_given = places < 2 || !request.weights.empty();
  if (is_given) return ProblemQueue(request.problems.size());
  return ProblemQueue(longest_first(target, request.problems, device));
}

}  // namespace autotune
