// SPDX-License-Identifier: Apache-2.0
#include "tuner/worker/kept_program.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tuner/core/error.hpp"
#include "tuner/host/temporary_folder.hpp"

namespace autotune {
namespace {

constexpr std::size_t kMost = 1000;

ProcessText run_script(const std::string& script, double limit_seconds = 60) {
  return run_kept({"/bin/sh", "-c", script}, limit_seconds, kMost);
}

/// A script that starts two processes, one of them in a session of its own, and names them.
class KeptProgram : public ::testing::Test {
 protected:
  std::string starts_others() const {
    return "sleep 1000 & one=$!; setsid sh -c 'echo $$ > " + other() +
           "; exec sleep 1000' & while [ ! -s " + other() +
           " ]; do sleep 0.01; done; echo $one $(cat " + other() + ") > " + pids_file() +
           ".new; mv " + pids_file() + ".new " + pids_file() + "; ";
  }
  std::string pids_file() const { return folder_.path().string() + "/pids"; }

  std::vector<pid_t> pids() const {
    for (int i = 0; i < 3000 && !std::filesystem::exists(pids_file()); ++i) nap();
    std::ifstream file(pids_file());
    return {std::istream_iterator<pid_t>(file), {}};
  }

  static bool ends(pid_t pid) {
    for (int i = 0; i < 1000; ++i, nap()) {
      if (kill(pid, 0) != 0) return true;
    }
    return false;
  }

 private:
  static void nap() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }
  std::string other() const { return folder_.path().string() + "/other"; }

  const TemporaryFolder folder_;
};

TEST_F(KeptProgram, GivesItsStatusAndOutputs) {
  const ProcessText result = run_script("echo text; echo remark >&2; exit 3");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.text, "text\n");
  EXPECT_EQ(result.output, "remark\n");
  EXPECT_THROW(run_kept({"/no/such/program"}, 60, kMost), Error);
}

TEST_F(KeptProgram, EndsWhenItPrintsTooMuch) {
  EXPECT_FALSE(run_script("printf '%01000d' 0").is_too_long);
  EXPECT_TRUE(run_script("printf '%01001d' 0; sleep 1000").is_too_long);
  EXPECT_TRUE(run_script("exec yes").is_too_long);
}

TEST_F(KeptProgram, LeavesNothingWhenItHasSucceeded) {
  EXPECT_EQ(run_script(starts_others() + "echo text").text, "text\n");
  const std::vector<pid_t> left = pids();
  ASSERT_EQ(left.size(), 2u);
  for (const pid_t pid : left) EXPECT_NE(kill(pid, 0), 0) << pid;
}

TEST_F(KeptProgram, LeavesNothingAtItsLimit) {
  EXPECT_TRUE(run_script(starts_others() + "sleep 1000", 4).timed_out);
  const std::vector<pid_t> left = pids();
  ASSERT_EQ(left.size(), 2u);
  for (const pid_t pid : left) EXPECT_NE(kill(pid, 0), 0) << pid;
}

TEST_F(KeptProgram, LeavesNothingWhenThisProcessIsKilled) {
  const pid_t tool = fork();
  if (tool == 0) {
    run_script(starts_others() + "sleep 1000");
    _exit(0);
  }
  const std::vector<pid_t> left = pids();
  kill(tool, SIGKILL);
  waitpid(tool, nullptr, 0);
  ASSERT_EQ(left.size(), 2u);
  for (const pid_t pid : left) EXPECT_TRUE(ends(pid)) << pid;
}

}  // namespace
}  // namespace autotune
