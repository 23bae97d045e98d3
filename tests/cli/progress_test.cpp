// SPDX-License-Identifier: Apache-2.0
// What a run says on stderr while it goes on: on a terminal and elsewhere.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>

#include "tests/cli/tool.hpp"

namespace autotune::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// A terminal that nobody looks at.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)) {
    if (grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    slave_ = open(ptsname(master_), O_RDWR | O_NOCTTY | O_CLOEXEC);
  }
  ~Terminal() {
    close(slave_);
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int slave() const { return slave_; }
  /// Everything that was written so far, and is small enough for the terminal's buffer.
  std::string text() const {
    std::string text;
    std::array<char, 4096> part{};
    for (ssize_t size = 0; (size = read(master_, part.data(), part.size())) > 0;) {
      text.append(part.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

 private:
  int master_, slave_ = -1;
};

TEST(Progress, ATerminalShowsTheBestSoFarOnOneLine) {
  const Sandbox sandbox;
  const Terminal terminal;
  ASSERT_GE(terminal.slave(), 0);
  const Ended ended = sandbox.run(tune("tiny", "100,200", {"--budget", "6", "--json"}),
                                  [&] { dup2(terminal.slave(), 2); });
  ASSERT_EQ(ended.status, 0);
  const std::string text = terminal.text();
  EXPECT_THAT(text, HasSubstr("[1/2] N=100  "));
  EXPECT_THAT(text, ContainsRegex("\\[2/2\\] N=200  ./6.*  best [0-9.]+ .s"));
  EXPECT_THAT(text, ContainsRegex("[0-9]+ s left, until [0-9][0-9]:[0-9][0-9]"));
  EXPECT_THAT(text, HasSubstr("\r\033[K"));  // the line is written anew
}

TEST(Progress, ElsewhereAProblemIsALine) {
  const Sandbox sandbox;
  const Ended ended = sandbox.run(tune("tiny", "100,200", {"--budget", "6", "--json"}));
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_THAT(ended.err, ContainsRegex("N=100: tried 6 of 8: .*; best found at [1-6]; [0-9.]+ s; "
                                       "[0-9]+ (s|min) left, until [0-9][0-9]:[0-9][0-9]\n"));
  EXPECT_THAT(ended.err,
              ContainsRegex("N=200: tried 6 of 8: .*; best found at [1-6]; [0-9.]+ s\n"));
  EXPECT_THAT(ended.err, Not(HasSubstr("\r")));
}

}  // namespace
}  // namespace autotune::testing
