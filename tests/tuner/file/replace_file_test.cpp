// SPDX-License-Identifier: Apache-2.0
#include "tuner/file/replace_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() { scratch_.write("old", "old"); }

  static void write(const fs::path& file, const std::string& text) {
    write_file(file, [&](std::ostream& stream) { stream << text; });
  }
  static std::string refusal(const fs::path& file) {
    return thrown_by([&] { write(file, "new"); });
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  const ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

TEST_F(ReplaceFile, MakesAFileOrTakesThePlaceOfOne) {
  write(folder_ / "new", "a");
  write(folder_ / "old", "b");
  EXPECT_EQ(file_bytes(folder_ / "new"), "a");
  EXPECT_EQ(file_bytes(folder_ / "old"), "b");
  EXPECT_THAT(names(), ElementsAre("new", "old"));
}

TEST_F(ReplaceFile, WhoReadsMeanwhileFindsTheOldFile) {
  write_file(folder_ / "old", [&](std::ostream& stream) {
    stream << "new" << std::flush;
    EXPECT_EQ(file_bytes(folder_ / "old"), "old");
  });
}

TEST_F(ReplaceFile, AFailureLeavesTheOldFileAndNothingElse) {
  EXPECT_THROW(write_file(folder_ / "old",
                          [](std::ostream& stream) {
                            stream << "half";
                            throw std::runtime_error("no more");
                          }),
               std::runtime_error);
  EXPECT_EQ(file_bytes(folder_ / "old"), "old");
  EXPECT_THAT(names(), ElementsAre("old"));
}

TEST_F(ReplaceFile, LinksAndPermissionsStay) {
  fs::permissions(folder_ / "old", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("old", folder_ / "link");
  fs::create_symlink("link", folder_ / "to_link");
  fs::create_symlink("made", folder_ / "to_nothing");
  write(folder_ / "to_link", "new");
  write(folder_ / "to_nothing", "new");
  EXPECT_EQ(file_bytes(folder_ / "old"), "new");
  EXPECT_EQ(file_bytes(folder_ / "made"), "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "to_nothing"));
  EXPECT_EQ(fs::status(folder_ / "old").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, ThePermissionsOfASecretHoldFromTheFirstByteOn) {
  fs::permissions(folder_ / "old", fs::perms::owner_read | fs::perms::owner_write);
  write_file(folder_ / "old", [&](std::ostream& stream) {
    stream << "secret" << std::flush;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      EXPECT_EQ(entry.status().permissions(), fs::perms::owner_read | fs::perms::owner_write)
          << entry.path();
      EXPECT_EQ(is_aside(entry.path()), entry.path().filename() != "old");
    }
  });
  write_private_file(folder_ / "private", "secret");
  EXPECT_EQ(fs::status(folder_ / "private").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(ReplaceFile, TheNameMeanwhileCannotBeForeseen) {
  const AsideFile one(folder_ / "new"), other(folder_ / "new");
  const auto random = [](const AsideFile& file) { return file.path().stem().extension().string(); };
  EXPECT_EQ(random(one).size(), 17u);
  int equal = 0;
  for (std::size_t i = 1; i < random(one).size(); ++i) equal += random(one)[i] == random(other)[i];
  EXPECT_LT(equal, 8) << one.path() << " and " << other.path();
}

/// In a folder like /tmp.
TEST_F(ReplaceFile, ALinkThatAnotherUserMayHavePlantedIsNotFollowed) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to make a link of another user";
  const fs::path shared = folder_ / "shared";
  fs::create_directory(shared);
  chmod(shared.c_str(), 01777);
  fs::create_symlink(folder_ / "old", shared / "own");
  fs::create_symlink(folder_ / "old", shared / "planted");
  ASSERT_EQ(lchown((shared / "planted").c_str(), 12345, 12345), 0);
  EXPECT_EQ(refusal(shared / "planted"),
            (shared / "planted").string() + ": cannot be written: Permission denied");
  EXPECT_EQ(file_bytes(folder_ / "old"), "old");
  write(shared / "own", "new");
  EXPECT_EQ(file_bytes(folder_ / "old"), "new");
}

TEST_F(ReplaceFile, WhatIsNoRegularFileIsWrittenAsItIs) {
  write("/dev/null", "text");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(refusal("/dev/full"), "/dev/full: cannot be written: No space left on device");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  write("/proc/self/fd/" + std::to_string(ends[1]), "text");
  char got[5] = {};
  EXPECT_EQ(read(ends[0], got, 4), 4);
  EXPECT_STREQ(got, "text");
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ReplaceFile, WhatStandsInTheWayIsOneSentence) {
  const std::string folder = folder_.string();
  EXPECT_EQ(refusal(folder_), folder + ": cannot be written: Is a directory");
  EXPECT_EQ(refusal(folder_ / "no/file"),
            folder + "/no/file: cannot be written: No such file or directory");
  EXPECT_EQ(refusal(folder_ / "old/file"),
            folder + "/old/file: cannot be written: Not a directory");
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_THAT(refusal(folder_ / "loop"), StartsWith(folder + "/loop: cannot be written: Too many"));
}

TEST(FileSystem, NamesThoseThatHostsShare) {
  EXPECT_EQ(shared_file_system_of_type(0x6969), "NFS");
  EXPECT_EQ(shared_file_system_of_type(0x0BD00BD0), "Lustre");
  EXPECT_EQ(shared_file_system_of_type(0x47504653), "GPFS");
  EXPECT_EQ(shared_file_system_of_type(0xFE534D42), "SMB");
  EXPECT_EQ(shared_file_system_of_type(0xEF53), "") << "ext4";
  EXPECT_EQ(shared_file_system_of_type(static_cast<int>(0x9123683EU)), "")
      << "btrfs, with its sign";
}

TEST(FileSystem, OfAFileThatIsNotThereItIsTheOneOfItsFolder) {
  EXPECT_EQ(shared_file_system("/proc/no/such/folder/file"), "");
}

}  // namespace
}  // namespace autotune
