// SPDX-License-Identifier: Apache-2.0
// What the database has of other devices: configurations that a search tries first on this one.
#pragma once

#include <string>
#include <vector>

#include "db/store.hpp"
#include "tuner/core/parameter_space.hpp"
#include "tuner/core/problem.hpp"
#include "tuner/core/target.hpp"

namespace autotune {

/// A configuration of this device's space that is among the fastest on another device.
struct FoundElsewhere {
  std::size_t index = 0;
  std::string device;  // its name
};

/// At most this many are tried first.
inline constexpr std::size_t kMostFoundElsewhere = 8;

/// The winners of the nearest tuned problem on each other device of the same kind, then their
/// runners-up. Problems count if they have the same settings and policy, and sizes that differ by a
/// factor of two at most. Configurations that are not in the space are left out. `here` is the key
/// of the problem on this device. Throws db::StoreError.
std::vector<FoundElsewhere> found_elsewhere(const db::TunedStore& store, const Target& target,
                                            const Problem& problem, const db::ProblemKey& here,
                                            DeviceKind kind, const ParameterSpace& space);

/// The problems that found_elsewhere() looks at: what it needs to know of the database.
std::vector<db::ProblemKey> problems_elsewhere(const db::TunedStore& store, const Target& target,
                                               const Problem& problem, const db::ProblemKey& here,
                                               DeviceKind kind);

}  // namespace autotune
