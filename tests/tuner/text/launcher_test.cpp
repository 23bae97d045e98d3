// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/launcher.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>
#include <vector>

namespace autotune {
namespace {

TEST(MayEarn, NotInARankOfSeveralNorWhereItIsSwitchedOff) {
  const auto with = [](std::vector<std::pair<const char*, const char*>> variables) {
    for (const auto& [name, value] : variables) setenv(name, value, 1);
    const bool may = may_earn();
    for (const auto& [name, value] : variables) unsetenv(name);
    return may;
  };
  EXPECT_TRUE(with({}));
  EXPECT_FALSE(with({{"AUTOTUNE_EARN", "0"}}));
  EXPECT_FALSE(with({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "8"}}));
  EXPECT_FALSE(with({{"RANK", "1"}, {"WORLD_SIZE", "2"}}));
  EXPECT_FALSE(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(with({{"PMIX_RANK", "0"}})) << "of an unknown number";
  EXPECT_TRUE(with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}));
}

}  // namespace
}  // namespace autotune
