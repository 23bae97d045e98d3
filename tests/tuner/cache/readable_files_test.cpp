// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/readable_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

class ReadableFiles : public testing::Test {
 protected:
  ReadableFiles() {
    folder_.write("own/tile.cuh", "");
    folder_.write("own/sub/table.txt", "");
    folder_.write("common/tile.cuh", "");
    folder_.write("common/table.txt", "");
    fs::create_symlink(at("common/tile.cuh"), at("own/linked.cuh"));
  }
  fs::path at(const std::string& name) const { return folder_.path() / name; }
  bool may_read(const fs::path& file, const std::vector<fs::path>& data = {}) const {
    const std::vector<fs::path> files = {at("own/tile.cuh"), file}, folders = {at("own/")};
    const auto found = first_forbidden(files, folders, data);
    if (found) {
      EXPECT_EQ(*found, file);
    }
    return !found;
  }

  ScratchFolder folder_;
};

TEST_F(ReadableFiles, AreThoseBelowTheFolders) {
  EXPECT_TRUE(may_read(at("own/sub/table.txt")) && may_read(at("own/linked.cuh")));
  EXPECT_TRUE(may_read(at("own/sub/../tile.cuh")));
  EXPECT_FALSE(may_read(at("common/tile.cuh")) || may_read("/etc/passwd") ||
               may_read("/proc/self/maps") || may_read(at("own2/tile.cuh")));
}

TEST_F(ReadableFiles, AreHeadersThatTheFoldersReach) {
  EXPECT_TRUE(may_read(at("own/../common/tile.cuh")));
  EXPECT_FALSE(may_read(at("own/../common/table.txt")));
  EXPECT_FALSE(may_read(at("own/../../../../../etc/passwd")));
}

TEST_F(ReadableFiles, AreNoDataOfTheTarget) {
  EXPECT_FALSE(may_read(at("own/sub/table.txt"), {at("own/sub/../sub/table.txt")}));
  EXPECT_FALSE(may_read(at("own/linked.cuh"), {at("common/tile.cuh")})) << "by its link";
}

}  // namespace
}  // namespace autotune
