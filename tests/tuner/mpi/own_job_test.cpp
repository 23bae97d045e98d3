// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/own_job.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/cli/verb.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(ShareOfHost, EachRankHasTheGpuOfItsNumber) {
  EXPECT_EQ(device_of_rank("auto", 1, {4, false}), "cuda:1");
  EXPECT_EQ(device_of_rank("cuda:all", 3, {4, true}), "cuda:3");
  EXPECT_THROW(device_of_rank("cuda", 4, {4, false}), UsageError);
}

TEST(ShareOfHost, AHostWithoutAGpuIsNamed) {
  try {
    device_of_rank("cuda", 0, {0, false});
    FAIL() << "there is no GPU";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("has no GPU that CUDA can use"), std::string::npos)
        << error.what();
  }
}

TEST(ShareOfHost, OneVisibleGpuIsTheRanksOwn) {
  EXPECT_EQ(device_of_rank("cuda", 3, {1, true}), "cuda:0") << "srun shows each task its own";
  EXPECT_THROW(device_of_rank("cuda", 1, {1, false}), UsageError);
}

TEST(ShareOfHost, OfAListEachRankHasOneItem) {
  EXPECT_EQ(device_of_rank("cuda:0,cuda:2", 1, {4, false}), "cuda:2");
  EXPECT_THROW(device_of_rank("cuda:0,cuda:2", 2, {4, false}), UsageError);
}

TEST(ShareOfHost, TheHostDeviceIsShared) {
  EXPECT_EQ(device_of_rank("auto", 5, {0, false}), "host");
  EXPECT_EQ(device_of_rank("host", 5, {4, false}), "host");
  EXPECT_EQ(device_of_rank("model:h200", 1, {0, false}), "model:h200");
}

TEST(ShareOfHost, CoresAreSharedUnlessTheLauncherBindsRanksToThem) {
  EXPECT_EQ(threads_of_rank(64, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(8, 64, 8), 8);
  EXPECT_EQ(threads_of_rank(2, 2, 8), 1);
}

/// A child that waits for a signal.
pid_t child() {
  const pid_t pid = fork();
  if (pid == 0) {
    for (;;) pause();
  }
  return pid;
}

TEST(StartLimit, KillsOfAllChildrenTheStoppedOnes) {
  const pid_t runs = child(), stopped = child();
  int status = 0;
  kill(stopped, SIGSTOP);
  ASSERT_EQ(waitpid(stopped, &status, WUNTRACED), stopped);
  kill_stopped_children(getpid());
  ASSERT_EQ(waitpid(stopped, &status, 0), stopped);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  EXPECT_EQ(waitpid(runs, &status, WNOHANG), 0) << "it runs";
  kill(runs, SIGKILL);
  waitpid(runs, &status, 0);
}

TEST(StartLimit, EndsAProcessThatDoesNotStart) {
  EXPECT_EXIT(
      {
        const StartLimit limit(0.05, "DEADLINE");
        for (;;) pause();
      },
      ::testing::ExitedWithCode(cli::kFailed),
      "a rank did not start within 0.05 s; .* with a larger DEADLINE");
}

TEST(StartLimit, AStartInTimeIsLeftAlone) { const StartLimit limit(60, "DEADLINE"); }

}  // namespace
}  // namespace autotune
