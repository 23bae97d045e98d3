// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/share_of_host.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(ShareOfHost, EachRankHasTheGpuOfItsNumber) {
  EXPECT_EQ(device_of_rank("auto", 1, {4, false}), "cuda:1");
  EXPECT_EQ(device_of_rank("cuda:all", 3, {4, true}), "cuda:3");
  EXPECT_THROW(device_of_rank("cuda", 4, {4, false}), UsageError);
}

TEST(ShareOfHost, AHostWithoutAGpuIsNamed) {
  try {
    device_of_rank("cuda", 0, {0, false});
    FAIL() << "there is no GPU";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("has no GPU that CUDA can use"), std::string::npos)
        << error.what();
  }
}

TEST(ShareOfHost, OneVisibleGpuIsTheRanksOwn) {
  EXPECT_EQ(device_of_rank("cuda", 3, {1, true}), "cuda:0") << "srun shows each task its own";
  EXPECT_THROW(device_of_rank("cuda", 1, {1, false}), UsageError);
}

TEST(ShareOfHost, OfAListEachRankHasOneItem) {
  EXPECT_EQ(device_of_rank("cuda:0,cuda:2", 1, {4, false}), "cuda:2");
  EXPECT_THROW(device_of_rank("cuda:0,cuda:2", 2, {4, false}), UsageError);
}

TEST(ShareOfHost, TheHostDeviceIsShared) {
  EXPECT_EQ(device_of_rank("auto", 5, {0, false}), "host");
  EXPECT_EQ(device_of_rank("host", 5, {4, false}), "host");
  EXPECT_EQ(device_of_rank("model:h200", 1, {0, false}), "model:h200");
}

TEST(ShareOfHost, CoresAreSharedUnlessTheLauncherBindsRanksToThem) {
  EXPECT_EQ(threads_of_rank(64, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(8, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(2, 2, 8), 1);
}

}  // namespace
}  // namespace autotune
