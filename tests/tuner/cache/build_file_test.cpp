// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "tests/tuner/target/scratch.hpp"

namespace autotune {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class BuildFile : public testing::Test {
 protected:
  /// Reads a file of these bytes.
  std::optional<Build> read(const std::string& bytes) const {
    return read_build(scratch_.write("build", bytes));
  }
  Build build() const {
    Build build;
    build.log = "one warning\n";
    build.binary = std::make_shared<const std::string>(std::string("\x7f\0ELF\n", 6));
    return build;
  }

  const ScratchFolder scratch_;
  const std::filesystem::path path_ = scratch_.path() / "build";
};

TEST_F(BuildFile, IsReadAsWritten) {
  const std::int64_t written = write_build(path_, build());
  EXPECT_EQ(written, static_cast<std::int64_t>(std::filesystem::file_size(path_)));
  const auto read = read_build(path_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->log, build().log);
  EXPECT_EQ(*read->binary, *build().binary);
}

TEST_F(BuildFile, AFailedBuildHasALogAndNoBinary) {
  Build failed;
  failed.log = "error: no such type";
  write_build(path_, failed);
  const auto read = read_build(path_);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->log, failed.log);
  EXPECT_FALSE(read->binary);
}

TEST_F(BuildFile, AnEmptyBinaryIsNotAMissingOne) {
  Build empty;
  empty.binary = std::make_shared<const std::string>();
  write_build(path_, empty);
  EXPECT_TRUE(read_build(path_)->binary);
}

TEST_F(BuildFile, DamageIsNoticed) {
  write_build(path_, build());
  const std::string bytes = text_of(path_);
  ASSERT_TRUE(read(bytes));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_FALSE(read(bytes.substr(0, i))) << "cut at " << i;
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_FALSE(read(flipped)) << "flipped at " << i;
  }
  EXPECT_FALSE(read(bytes + "x"));
  EXPECT_FALSE(read_build(scratch_.path() / "missing"));
}

TEST_F(BuildFile, OfAnotherKeyIsNotTaken) {
  write_build(path_, build());
  const auto other = scratch_.path() / "other";
  std::filesystem::copy_file(path_, other);
  EXPECT_TRUE(is_build(other));
  EXPECT_FALSE(read_build(other));
}

TEST_F(BuildFile, IsForItsUserAlone) {
  write_build(path_, build());
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(BuildFile, WithoutItsFolderSaysWhy) {
  EXPECT_EQ(write_build(scratch_.path() / "none" / "build", build()), -1);
  EXPECT_EQ(errno, ENOENT);
}

}  // namespace
}  // namespace autotune
