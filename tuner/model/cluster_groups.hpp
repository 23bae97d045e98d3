// SPDX-License-Identifier: Apache-2.0
// The groups of multiprocessors that thread block clusters cannot leave.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace autotune {

/// The number of clusters of `cluster` blocks resident on a whole GPU, with `blocks` per
/// multiprocessor, as the driver counts. A group holds as many as its places allow, if it has a
/// multiprocessor for each block of one cluster.
int resident_clusters(std::span<const int> groups, int cluster, int blocks);

/// The driver's answer to the same question; negative if it has none.
using ResidentClusters = std::function<int(int cluster, int blocks)>;

/// The sizes of a GPU's groups, ascending, derived from the driver's answers for clusters of 2 to
/// `largest`. Multiprocessors that can hold no cluster are in no group. Empty if no arrangement
/// matches the answers.
std::vector<int> cluster_groups(int largest, const ResidentClusters& resident);

}  // namespace autotune
