// SPDX-License-Identifier: Apache-2.0
#include "tuner/mpi/start_limit.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tuner/cli/verb.hpp"

namespace autotune {
namespace {

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
