// SPDX-License-Identifier: Apache-2.0
#include "tuner/plugin/plugin_files.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/support/plugin_builder.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::Not;

class PluginFilesTest : public ::testing::Test {
 protected:
  ~PluginFilesTest() override { unsetenv("AUTOTUNE_PLUGIN_PATH"); }
  static void set_path(const std::string& path) { setenv("AUTOTUNE_PLUGIN_PATH", path.c_str(), 1); }
  testing::PluginWorkshop workshop_;
};

TEST_F(PluginFilesTest, FoldersOfThePathComeFirstAndInOrder) {
  const fs::path b = workshop_.write("one/b.so", ""), a = workshop_.write("one/a.so", "");
  const fs::path c = workshop_.write("two/c.so", "");
  workshop_.write("two/notes.txt", "");
  set_path((workshop_.folder() / "one").string() + "::" + (workshop_.folder() / "two").string() +
           ":" + (workshop_.folder() / "nowhere").string());
  const auto files = plugin_files();
  ASSERT_GE(files.size(), 3u);
  EXPECT_EQ(files[0], fs::canonical(a));
  EXPECT_EQ(files[1], fs::canonical(b));
  EXPECT_EQ(files[2], fs::canonical(c));
}

TEST_F(PluginFilesTest, AFileThatIsReachedTwiceStandsThereOnce) {
  workshop_.write("one/a.so", "");
  const std::string folder = (workshop_.folder() / "one").string();
  set_path("");
  const std::size_t others = plugin_files().size();
  set_path(folder + ":" + folder + "/../one");
  EXPECT_EQ(plugin_files().size(), others + 1);
}

TEST_F(PluginFilesTest, NeverTheWorkingDirectory) {
  const fs::path file = workshop_.write("here.so", "");
  const fs::path before = fs::current_path();
  fs::current_path(workshop_.folder());
  set_path("");
  EXPECT_THAT(plugin_files(), Not(Contains(fs::canonical(file))));
  set_path(".");
  EXPECT_THROW(plugin_files(), UsageError);
  fs::current_path(before);
}

}  // namespace
}  // namespace autotune
