// SPDX-License-Identifier: Apache-2.0
// How many problems the devices of a run tune at a time, and in which order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tuner/core/device.hpp"
#include "tuner/core/target.hpp"
#include "tuner/session/problem_queue.hpp"
#include "tuner/session/tuning_request.hpp"

namespace autotune {

/// The bytes of a problem's buffers, without workspace.
std::int64_t buffer_bytes(const Target& target, const Problem& problem, const DeviceInfo& device);

/// The places of each device: two if all devices take turns, if there are more problems than
/// devices, and if the buffers of two leave room; else one. `devices` is not empty.
std::size_t places_of_each(const Target& target, const TuningRequest& request,
                           std::span<Device* const> devices);

/// Longest first, so that all places end at about the same time. The order of the request with one
/// place, or for a workload, which has the heaviest first.
ProblemQueue queue_of(const Target& target, const TuningRequest& request, const DeviceInfo& device,
                      std::size_t places);

}  // namespace autotune
