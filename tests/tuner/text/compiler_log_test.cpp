// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/compiler_log.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

TEST(CompilerLog, TheFirstErrorIsTheLineThatSaysSo) {
  EXPECT_EQ(first_error("k.cu: In function 'k':\nk.cu:3:1: error: no ;\nk.cu:4:1: error: more\n"),
            "k.cu:3:1: error: no ;");
}

TEST(CompilerLog, WithoutAnErrorTheFirstLineStands) {
  EXPECT_EQ(first_error("\nthe compiler was killed after 60 s\nlater"),
            "the compiler was killed after 60 s");
  EXPECT_EQ(first_error(""), "");
}

}  // namespace
}  // namespace autotune
