// SPDX-License-Identifier: Apache-2.0
// Expectations on a refused run.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/cli/tool.hpp"

namespace autotune::testing {

/// Expects this status, one sentence on stderr with all of `words`, and nothing on stdout.
inline void expect_refused(const Ended& ended, int status, const std::vector<std::string>& words) {
  EXPECT_EQ(ended.status, status);
  EXPECT_EQ(ended.out, "");
  EXPECT_TRUE(ended.err.starts_with("error: ")) << ended.err;
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  EXPECT_TRUE(ended.err.ends_with('\n')) << ended.err;
  for (const std::string& word : words) EXPECT_THAT(ended.err, ::testing::HasSubstr(word));
}

/// The same, where the line of a manifest and a caret may follow the sentence.
inline void expect_manifest_refused(const Ended& ended, const std::vector<std::string>& words) {
  Ended sentence = ended;
  if (const auto line = ended.err.find("\n "); line != std::string::npos) {
    sentence.err.resize(line + 1);
  }
  expect_refused(sentence, 1, {});
  for (const std::string& word : words) EXPECT_THAT(ended.err, ::testing::HasSubstr(word));
}

}  // namespace autotune::testing
