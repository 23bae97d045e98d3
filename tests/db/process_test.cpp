// SPDX-License-Identifier: Apache-2.0
#include "db/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>
#include <string>

#include "db/store.hpp"

namespace autotune::db {
namespace {

TEST(Process, ThisOneLives) { EXPECT_TRUE(process_lives(process_text())); }

TEST(Process, OneWithThisNumberThatStartedAtAnotherTimeHasEnded) {
  EXPECT_FALSE(process_lives(process_text() + "1"));
}

TEST(Process, ATextWithoutAStartIsOfAProcessThatHasEnded) {
  std::istringstream fields(process_text());
  std::string host, pid;
  fields >> host >> pid;
  EXPECT_FALSE(process_lives(host + " " + pid));
}

TEST(Process, OnesOfOtherHostsCountAsAlive) { EXPECT_TRUE(process_lives("elsewhere. 1 1")); }

TEST(Process, AZombieHasEnded) {
  int text[2];
  ASSERT_EQ(pipe(text), 0);
  const pid_t child = fork();
  if (child == 0) {
    const std::string own = process_text();
    const bool written = write(text[1], own.data(), own.size()) == std::ssize(own);
    _exit(written ? 0 : 1);
  }
  close(text[1]);
  char buffer[512];
  const ssize_t size = read(text[0], buffer, sizeof buffer);
  close(text[0]);
  ASSERT_GT(size, 0);
  const std::string own(buffer, static_cast<std::size_t>(size));
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(process_lives(own));  // it has ended, and nobody has waited for it
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(process_lives(own));
}

}  // namespace
}  // namespace autotune::db
