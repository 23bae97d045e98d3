// SPDX-License-Identifier: Apache-2.0
// Groups of multiprocessors are found from the driver's counts of clusters.
#include "tuner/model/cluster_groups.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// cudaOccupancyMaxActiveClusters on an H200: clusters of 2 to 16, with 1 to 8 blocks on a
// multiprocessor.
constexpr int kH200[15][8] = {
    {66, 132, 198, 264, 330, 396, 462, 528}, {39, 79, 124, 163, 203, 248, 287, 327},
    {30, 62, 92, 124, 154, 186, 216, 248},   {22, 47, 69, 94, 124, 146, 171, 193},
    {17, 39, 62, 79, 101, 124, 141, 163},    {15, 32, 47, 69, 84, 101, 124, 139},
    {15, 30, 45, 62, 77, 92, 107, 124},      {9, 23, 37, 51, 60, 74, 88, 102},
    {7, 21, 30, 44, 58, 65, 79, 88},         {7, 16, 28, 37, 51, 58, 72, 81},
    {7, 16, 28, 37, 44, 58, 65, 74},         {7, 14, 23, 30, 42, 51, 58, 67},
    {7, 14, 21, 30, 37, 44, 58, 65},         {7, 14, 21, 28, 37, 44, 51, 58},
    {7, 14, 21, 28, 35, 42, 49, 58},
};
const std::vector<int> kH200Groups = {2, 2, 2, 2, 8, 16, 16, 16, 16, 16, 18, 18};

std::vector<int> found_again(const std::vector<int>& groups, int largest) {
  return cluster_groups(
      largest, [&](int cluster, int blocks) { return resident_clusters(groups, cluster, blocks); });
}

TEST(ClusterGroups, CountClustersAsTheDriverOfAnH200Does) {
  for (int cluster = 2; cluster <= 16; ++cluster) {
    for (int blocks = 1; blocks <= 8; ++blocks) {
      EXPECT_EQ(resident_clusters(kH200Groups, cluster, blocks), kH200[cluster - 2][blocks - 1])
          << cluster << " blocks a cluster, " << blocks << " a multiprocessor";
    }
  }
}

TEST(ClusterGroups, AMultiprocessorHoldsEightBlocksOfClusters) {
  EXPECT_EQ(resident_clusters(kH200Groups, 16, 9), 58);
  EXPECT_EQ(resident_clusters(kH200Groups, 2, 32), 528);
}

TEST(ClusterGroups, AreFoundFromTheDriversOwnAnswers) {
  const std::vector<int> found = cluster_groups(
      16, [](int cluster, int blocks) { return kH200[cluster - 2][std::min(blocks, 8) - 1]; });
  EXPECT_EQ(found, kH200Groups);
}

TEST(ClusterGroups, AreFoundAgainFromTheCounts) {
  for (const std::vector<int>& groups :
       std::vector<std::vector<int>>{kH200Groups,
                                     {16, 16, 16, 16, 16, 16, 18, 18},
                                     {14, 16, 16, 16, 16, 18, 18, 18},
                                     {16, 18, 18, 18, 18, 20, 20, 20},
                                     {7, 7},
                                     {2}}) {
    EXPECT_EQ(found_again(groups, 16), groups) << testing::PrintToString(groups);
  }
  EXPECT_THAT(found_again({14, 14, 14, 16, 16, 16}, 8), ElementsAre(14, 14, 14, 16, 16, 16));
}

TEST(ClusterGroups, AnswersThatNoArrangementGivesLeaveThemUnknown) {
  EXPECT_THAT(cluster_groups(16, [](int, int) { return -1; }), IsEmpty());
  EXPECT_THAT(cluster_groups(16, [](int cluster, int) { return 100 - cluster; }), IsEmpty());
}

}  // namespace
}  // namespace autotune
