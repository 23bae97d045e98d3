// SPDX-License-Identifier: Apache-2.0
#include "tuner/cli/compiled_shape.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/cli/tool.hpp"
#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// `tiny` of these tests, with a configuration of its own.
std::vector<OccupancyQuestion> questions(std::vector<std::string> words) {
  words.insert(words.begin(), {"--target", testing::manifest_of("tiny")});
  return compiled_questions(Arguments(verb_called("occupancy"), words), find_gpu("h200"));
}

TEST(CompiledShape, IsOfTheConfigurationNearestToTheDefault) {
  if (!AUTOTUNE_WITH_CUDA) GTEST_SKIP() << "built without the CUDA toolkit";
  const testing::Sandbox sandbox;
  setenv("AUTOTUNE_CACHE", (sandbox.folder() / "cache").c_str(), 1);
  const std::vector<OccupancyQuestion> found = questions({"BLOCK=16", "--size", "100"});
  unsetenv("AUTOTUNE_CACHE");
  ASSERT_EQ(found.size(), 1u) << "one kernel";
  EXPECT_EQ(found[0].kernel, "tiny with BLOCK=16 STEP=1");
  EXPECT_EQ(found[0].block, "16 x 1 x 1");
  EXPECT_EQ(found[0].shape.threads, 16);
  EXPECT_GT(found[0].shape.registers, 0);
  EXPECT_EQ(found[0].gpu.name, "NVIDIA H200");
}

TEST(CompiledShape, WrongValuesAreRefusedBeforeAnythingIsCompiled) {
  EXPECT_THAT([] { questions({"BLOK=16"}); },
              ThrowsMessage<UsageError>("tiny has no parameter BLOK: did you mean BLOCK?"));
  EXPECT_THAT([] { questions({"BLOCK"}); },
              ThrowsMessage<UsageError>(HasSubstr("\"BLOCK\" is not NAME=VALUE, such as BM=64")));
  EXPECT_THAT([] { questions({"BLOCK=17"}); },
              ThrowsMessage<UsageError>(HasSubstr("no valid configuration with BLOCK=17 here")));
  EXPECT_THAT(
      [] {
        questions({"--size", "1,2"});
      },
      ThrowsMessage<UsageError>(HasSubstr("is 2 problems, and occupancy is of one")));
}

}  // namespace
}  // namespace autotune::cli
