// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/cluster_groups.hpp"

#include <algorithm>

namespace autotune {
namespace {

/// Most blocks of clusters on one multiprocessor, even if other limits allow more.
constexpr int kMostBlocks = 8;
/// No GPU has a larger group.
constexpr int kLargestGroup = 24;

struct Answer {
  int cluster, blocks, clusters;
};

bool agrees(std::span<const int> groups, std::span<const Answer> answers) {
  return std::ranges::all_of(answers, [&](const Answer& each) {
    return resident_clusters(groups, each.cluster, each.blocks) == each.clusters;
  });
}

/// Adds groups of at least `size` with `multiprocessors` in total that agree with all answers, by
/// backtracking. False if there are none. Multiprocessors come in pairs, so group sizes are even.
bool add_large(std::vector<int>& groups, int size, int multiprocessors,
               std::span<const Answer> answers) {
  if (multiprocessors == 0) return agrees(groups, answers);
  if (size > std::min(multiprocessors, kLargestGroup)) return false;
  groups.push_back(size);
  if (add_large(groups, size, multiprocessors - size, answers)) return true;
  groups.pop_back();
  return add_large(groups, size + 2, multiprocessors, answers);
}

}  // namespace

int resident_clusters(std::span<const int> groups, int cluster, int blocks) {
  int clusters = 0;
  for (const int group : groups) {
    if (group >= cluster) clusters += group * std::min(blocks, kMostBlocks) / cluster;
  }
  return clusters;
}

std::vector<int> cluster_groups(int largest, const ResidentClusters& resident) {
  // With as many blocks on a multiprocessor as in a cluster, the answer is the number of
  // multiprocessors in groups of that size and more.
  const int small = std::min(largest, kMostBlocks);
  std::vector<int> groups;
  for (int size = 2; size < small; ++size) {
    const int these = resident(size, size) - resident(size + 1, size + 1);
    if (these < 0 || these % size != 0) return {};
    groups.insert(groups.end(), static_cast<std::size_t>(these / size), size);
  }
  const int in_large = resident(small, small);
  if (in_large < 0) return {};
  std::vector<Answer> answers;
  for (int cluster = 2; cluster <= largest; ++cluster) {
    for (int blocks = 1; blocks <= kMostBlocks; ++blocks) {
      answers.push_back({cluster, blocks, resident(cluster, blocks)});
    }
  }
  if (!add_large(groups, small, in_large, answers)) return {};
  return groups;
}

}  // namespace autotune
