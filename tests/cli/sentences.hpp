// SPDX-License-Identifier: Apache-2.0
// What a run that is refused must say.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/cli/tool.hpp"

namespace autotune::testing {

/// One sentence on stderr with all of these in it, nothing on stdout, this status.
inline void expect_refused(const Ended& ended, int status, const std::vector<std::string>& words) {
  EXPECT_EQ(ended.status, status);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(ended.err.starts_with("error: ")) << ended.err;
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_TRUE(ended.err.ends_with('\n')) << ended.err;
  for (const std::string& word : words) EXPECT_THAT(ended.err, ::testing::HasSubstr(word));
}

}  // namespace autotune::testing
