// SPDX-License-Identifier: Apache-2.0
#include "tuner/model/multiprocessor.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::HasSubstr;

TEST(Multiprocessor, EveryOneIsConsistent) {
  int before = 0;
  for (const Multiprocessor& sm : multiprocessors()) {
    SCOPED_TRACE(sm.compute_capability);
    EXPECT_GT(sm.compute_capability, before);  // oldest first
    before = sm.compute_capability;
    EXPECT_EQ(sm.threads, 32 * sm.warps);
    EXPECT_LE(sm.max_threads_per_block, sm.threads);
    EXPECT_LE(sm.registers_per_block, sm.registers);
    EXPECT_LE(sm.shared_bytes_per_block, sm.shared_bytes);
    if (!sm.shared_sizes.empty()) {
      EXPECT_TRUE(std::ranges::is_sorted(sm.shared_sizes));
      EXPECT_EQ(std::int64_t{sm.shared_sizes.back()} << 10, sm.shared_bytes);
    }
    EXPECT_EQ(sm.max_cluster > 1, sm.compute_capability >= 90);
  }
}

TEST(Multiprocessor, AnUnknownNewOneIsTheNearestOlderOne) {
  EXPECT_EQ(multiprocessor(90).compute_capability, 90);
  EXPECT_EQ(multiprocessor(88).compute_capability, 87);
  EXPECT_EQ(multiprocessor(999).compute_capability, multiprocessors().back().compute_capability);
}

TEST(Multiprocessor, AnUnknownOldOneIsRefused) {
  for (const int capability : {0, 9, 14, 60 + 5, 73}) {
    try {
      multiprocessor(capability);
      ADD_FAILURE() << capability << " is known";
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("is not known"));
    }
  }
}

}  // namespace
}  // namespace autotune
