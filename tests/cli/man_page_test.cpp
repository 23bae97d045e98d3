// SPDX-License-Identifier: Apache-2.0
// Help on a terminal, and the manual page as groff and man show it.
#include <gmock/gmock.h>

#include "tests/cli/tool.hpp"

namespace autotune::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

bool is_here(const Sandbox& sandbox, const std::string& program) {
  return sandbox.run_program({"/bin/sh", "-c", "command -v " + program}).status == 0;
}

TEST(Help, OnATerminalDocumentsArePathsAndNoLinks) {
  const std::string text = Sandbox().run({"help", "check"}).out;
  EXPECT_THAT(text, HasSubstr("docs/manifest.md"));
  EXPECT_THAT(text, Not(HasSubstr("](")));
}

TEST(ManPage, HasEveryVerbAndIsAscii) {
  const std::string page = Sandbox().run({"help", "--man"}).out;
  for (const char* verb : {"tune", "query", "db", "help"}) {
    EXPECT_THAT(page, HasSubstr(std::string("\n.SS ") + verb + "\n"));
  }
  EXPECT_THAT(page, HasSubstr("\n.SH EXIT STATUS\n"));
  EXPECT_THAT(page, HasSubstr("AUTOTUNE_DB"));
  for (const char c : page) ASSERT_GT(c, 0);
}

TEST(ManPage, IsFormattedWithoutAWarning) {
  const Sandbox sandbox;
  if (!is_here(sandbox, "groff")) GTEST_SKIP() << "there is no groff here";
  const std::string page = sandbox.write("autotune.1", sandbox.run({"help", "--man"}).out).string();
  const Ended ended =
      sandbox.run_program({"/usr/bin/env", "groff", "-ww", "-man", "-Tutf8", "-P-cbou", page});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
  EXPECT_THAT(ended.out, HasSubstr("--sizes"));
  EXPECT_EQ(ended.out.find('`'), std::string::npos) << "Markdown is left";
}

TEST(ManPage, IsAcceptedByMan) {
  const Sandbox sandbox;
  if (!is_here(sandbox, "man")) GTEST_SKIP() << "there is no man here";
  const std::string page = sandbox.write("autotune.1", sandbox.run({"help", "--man"}).out).string();
  const Ended ended = sandbox.run_program({"/usr/bin/env", "man", "--warnings", "-l", page});
  EXPECT_EQ(ended.status, 0);
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace autotune::testing
