// SPDX-License-Identifier: Apache-2.0
#include "tuner/watch/live_content.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/db/sample.hpp"

namespace autotune::watch {
namespace {

/// Content that counts how often it is made. Making takes `cost` seconds of a clock that the test
/// turns.
class LiveContentTest : public ::testing::Test {
 protected:
  void write(const std::string& text) { std::ofstream(folder_ / "file") << text; }

  Made make() {
    now_ += cost_;
    return {std::to_string(++made_), is_whole_};
  }

  db::TemporaryFolder folder_;
  int made_ = 0;
  double now_ = 0, cost_ = 0;
  bool is_whole_ = true;
  LiveContent live_{folder_ / "file", [this] { return make(); }, [this] { return now_; }};
};

TEST_F(LiveContentTest, IsMadeAgainWhenTheFileHasChangedOnly) {
  write("a");
  const Content first = live_.content();
  EXPECT_EQ(first.html, "1");
  EXPECT_EQ(live_.content().version, first.version);
  write("b");
  EXPECT_EQ(live_.content().html, "2");
  EXPECT_NE(live_.content().version, first.version);
}

TEST_F(LiveContentTest, AMissingFileMayCome) {
  is_whole_ = false;
  EXPECT_EQ(live_.content().html, "1");
  EXPECT_EQ(live_.content().html, "2");  // tried again
  is_whole_ = true;
  write("a");
  EXPECT_EQ(live_.content().html, "3");
  EXPECT_EQ(live_.content().html, "3");
}

TEST_F(LiveContentTest, WhoHasWaitedForALockIsNotLateAfterIt) {
  cost_ = 20;
  is_whole_ = false;
  write("a");
  EXPECT_EQ(live_.content().html, "1");
  is_whole_ = true;
  EXPECT_EQ(live_.content().html, "2");
}

TEST_F(LiveContentTest, MakingTakesATenthOfTheTimeAtMost) {
  cost_ = 1;
  write("a");
  EXPECT_EQ(live_.content().html, "1");
  write("b");
  now_ += 8;
  EXPECT_EQ(live_.content().html, "1");
  now_ += 1;
  EXPECT_EQ(live_.content().html, "2");
}

}  // namespace
}  // namespace autotune::watch
