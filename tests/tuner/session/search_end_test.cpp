// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/search_end.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(SearchEnd, NeverComesByItself) {
  SearchEnd end;
  EXPECT_FALSE(end.ask());
  EXPECT_FALSE(end.is_over());
}

TEST(SearchEnd, IsKnownOnceItWasAskedForAndStays) {
  SearchEnd end;
  bool stop = true;
  end.when([&] { return stop; });
  EXPECT_FALSE(end.is_over());
  EXPECT_TRUE(end.ask());
  stop = false;
  EXPECT_TRUE(end.ask());
  EXPECT_TRUE(end.is_over());
}

}  // namespace
}  // namespace autotune
