// SPDX-License-Identifier: Apache-2.0
#include "tuner/hash/hash.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

// Stored rows and file names depend on these values.
TEST(Hash, IsXxh3OfThePublishedTestVectors) {
  EXPECT_EQ(hash64(""), 0x2D06800538D394C2u);
  EXPECT_EQ(hash128(""), "99aa06d3014798d86001c324468d497f");
}

TEST(Hash, DependsOnTheSeedAndEveryByte) {
  EXPECT_NE(hash64("gemm"), hash64("gemm", 1));
  EXPECT_NE(hash64("gemm"), hash64("gemn"));
  EXPECT_NE(hash128(std::string_view("a\0b", 3)), hash128(std::string_view("a\0c", 3)));
  EXPECT_EQ(hash128("gemm").size(), 32u);
}

}  // namespace
}  // namespace autotune
