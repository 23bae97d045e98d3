// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/file_text.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(FileText, ARegularFileIsReadAsItStands) {
  const ScratchFolder folder;
  const auto file = folder.write("some.txt", std::string("a\0b\n", 4));
  EXPECT_EQ(read_text_file(file, 4).text, std::string("a\0b\n", 4));
  EXPECT_THAT(read_text_file(file, 4).refusal, IsEmpty());
  EXPECT_EQ(read_text_file(file, 3).refusal, "it has 4 bytes, the most are 3 bytes");
}

TEST(FileText, WhatWouldBeWaitedForIsNotOpened) {
  const ScratchFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(why_unreadable(pipe, 1), "it is a pipe");
  EXPECT_EQ(why_unreadable("/dev/zero", 1), "it is a device");
  EXPECT_EQ(why_unreadable(folder.path(), 1), "it is a folder");
  EXPECT_THAT(why_unreadable(folder.path() / "none", 1), HasSubstr("No such file"));
}

}  // namespace
}  // namespace autotune
