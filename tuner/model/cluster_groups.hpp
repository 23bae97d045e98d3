// SPDX-License-Identifier: Apache-2.0
// The groups of multiprocessors within which thread block clusters live.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace autotune {

/// Clusters of `cluster` blocks that are resident on a whole GPU when each multiprocessor holds
/// `blocks`, as the driver counts them: a group holds as many as its places allow, if it has a
/// multiprocessor for each block of one.
int resident_clusters(std::span<const int> groups, int cluster, int blocks);

/// The driver's answer to the same question; negative when it has none.
using ResidentClusters = std::function<int(int cluster, int blocks)>;

/// The sizes of a GPU's groups, ascending, from what its driver answers for clusters of 2 to
/// `largest`. Multiprocessors that can hold no cluster are in none. Empty when no arrangement gives
/// these answers.
std::vector<int> cluster_groups(int largest, const ResidentClusters& resident);

}  // namespace autotune
