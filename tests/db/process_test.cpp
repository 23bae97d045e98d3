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
  const std::string own = process_text();
  EXPECT_FALSE(process_lives(own.substr(0, own.rfind(' '))));
}

TEST(Process, OnesOfOtherHostsAndContainersCountAsAliveButAreNotNear) {
  std::istringstream fields(process_text());
  std::string host, ids, pid;
  fields >> host >> ids >> pid;
  for (const std::string& text : {"elsewhere. " + ids + " 1 1", host + " pid:[1] " + pid + " 1"}) {
    EXPECT_TRUE(process_lives(text)) << text;
    EXPECT_EQ(live_process_near(text), 0) << text;
  }
  EXPECT_EQ(live_process_near(process_text()), getpid());
}

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
