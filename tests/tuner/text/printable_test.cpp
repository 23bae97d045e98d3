// SPDX-License-Identifier: Apache-2.0
#include "tuner/text/printable.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace autotune {
namespace {

TEST(Printable, PlainTextStaysAsItIs) {
  const std::string text = "BM=64\tÄ € 𝄞\n— 5 %";
  EXPECT_EQ(printable(text), text);
}

TEST(Printable, NothingReachesATerminalThatItWouldObey) {
  EXPECT_EQ(printable("\x1b[31mred\r\a\x7f"), "\\u001b[31mred\\u000d\\u0007\\u007f");
  EXPECT_EQ(printable(std::string("\0x", 2)), "\\u0000x");
  EXPECT_EQ(printable("\u009b2J"), "\\u009b2J") << "CSI in one character";
  EXPECT_EQ(printable("a\u202eb\u2066c"), "a\\u202eb\\u2066c") << "turns the text around";
}

TEST(Printable, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(printable("a\xffz"), "a\uFFFDz");
  EXPECT_EQ(printable("\xc3"), "\uFFFD") << "cut off";
  EXPECT_EQ(printable("\xc0\xaf"), "\uFFFD\uFFFD") << "overlong";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD") << "beyond the last";
  EXPECT_EQ(printable("\x9b"), "\uFFFD") << "CSI as a lone byte";
}

TEST(PrintableStream, CoversWhatIsWrittenWhileItLives) {
  std::ostringstream stream;
  {
    const PrintableStream safe(stream);
    stream << "a\x1b[0m" << '\r' << 12 << std::endl;
  }
  stream << "\x1b";
  EXPECT_EQ(stream.str(), "a\\u001b[0m\\u000d12\n\x1b");
}

TEST(PrintableStream, AStreamThatCannotBeWrittenFails) {
  std::ostream nowhere(nullptr);
  std::stringbuf read_only(std::ios::in);
  nowhere.rdbuf(&read_only);
  const PrintableStream safe(nowhere);
  nowhere << "text";
  EXPECT_FALSE(nowhere);
}

}  // namespace
}  // namespace autotune
