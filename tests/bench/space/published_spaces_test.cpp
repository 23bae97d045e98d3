// SPDX-License-Identifier: Apache-2.0
#include "bench/space/published_spaces.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(PublishedSpaces, HaveThePublishedSizes) {
  ASSERT_FALSE(published_spaces().empty());
  for (const PublishedSpace& one : published_spaces()) {
    const ParameterSpace space = one.build();
    EXPECT_EQ(space.product(), one.product) << one.name;
    EXPECT_EQ(space.size(), one.valid) << one.name;
  }
}

}  // namespace
}  // namespace autotune
