// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/library_folders.hpp"

#include <gtest/gtest.h>

namespace autotune {
namespace {

/// The library is linked into this program.
TEST(LibraryFolders, AreThoseAboveTheLibraryNearestFirst) {
  const auto folders = folders_above_library();
  ASSERT_FALSE(folders.empty());
  EXPECT_LE(folders.size(), 3u);
  EXPECT_EQ(folders[0], std::filesystem::read_symlink("/proc/self/exe").parent_path());
  for (std::size_t i = 1; i < folders.size(); ++i) {
    EXPECT_EQ(folders[i], folders[i - 1].parent_path());
    EXPECT_NE(folders[i], folders[i].root_path()) << "the root is nobody's prefix";
  }
}

}  // namespace
}  // namespace autotune
