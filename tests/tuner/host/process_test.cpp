// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/process.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

std::vector<std::string> shell(const std::string& command) { return {"/bin/sh", "-c", command}; }

TEST(Process, GivesStatusAndBothOutputs) {
  const ProcessResult result = run_process(shell("echo out; echo err >&2; exit 3"), 10);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_FALSE(result.timed_out);
}

TEST(Process, SaysWhichSignalEndedIt) {
  EXPECT_EQ(run_process(shell("kill -SEGV $$"), 10).status, 128 + 11);
}

TEST(Process, KillsTheWholeGroupAtTheLimit) {
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = run_process(shell("sleep 100 & echo begun; sleep 100"), 0.2);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.output, "begun\n");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Process, KeepsTheFirstAndTheLastOfALongOutput) {
  const std::string zeros = "head -c 9000000 /dev/zero | tr '\\0' y";
  const ProcessResult result = run_process(shell("echo first; " + zeros + "; echo last"), 60);
  EXPECT_THAT(result.output, ::testing::StartsWith("first\nyy"));
  EXPECT_THAT(result.output, ::testing::HasSubstr("y\n[8934475 bytes are left out here]\ny"));
  EXPECT_THAT(result.output, ::testing::EndsWith("ylast\n"));
  EXPECT_LT(result.output.size(), kMostOutput + 100);
}

TEST(Process, IsNotWaitedForByWhatItLeavesBehind) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run_process(shell("sleep 10 & echo begun"), 60).output, "begun\n");
  EXPECT_EQ(run_process(shell("exec >&- 2>&-; sleep 0.1; exit 3"), 60).status, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(Process, AProgramThatIsNotThereIsAnError) {
  EXPECT_THROW(run_process({"/no/such/program"}, 1), Error);
}

TEST(Process, FindsProgramsInPath) {
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_TRUE(find_program("no-such-program").empty());
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_TRUE(find_program("/etc").empty());
}

}  // namespace
}  // namespace autotune
