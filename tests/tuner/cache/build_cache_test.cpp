// SPDX-License-Identifier: Apache-2.0
#include "tuner/cache/build_cache.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "tests/support/scratch_folder.hpp"

namespace autotune {
namespace {

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

TEST_F(BuildFile, AnEmptyBinaryIsNotAMissingOne) {
  Build empty;
  empty.binary = std::make_shared<const std::string>();
  write_build(path_, empty);
  EXPECT_TRUE(read_build(path_)->binary);
}

TEST_F(BuildFile, DamageIsNoticed) {
  write_build(path_, build());
  const std::string bytes = file_bytes(path_);
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

TEST_F(BuildFile, IsForItsUserAlone) {
  write_build(path_, build());
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path_).permissions(), perms::owner_read | perms::owner_write);
}

TEST_F(BuildFile, WithoutItsFolderSaysWhy) {
  EXPECT_EQ(write_build(scratch_.path() / "none" / "build", build()), -1);
  EXPECT_EQ(errno, ENOENT);
}

namespace fs = std::filesystem;

class BuildCacheTest : public testing::Test {
 protected:
  static Build build_of(const std::string& text) {
    return {std::make_shared<const std::string>(text), "a warning", true, false};
  }
  Build never() { throw std::logic_error("made twice"); }
  fs::path file_of(const std::string& key) const { return folder_ / key.substr(0, 2) / key; }

  const ScratchFolder scratch_;
  const fs::path base_ = scratch_.path(), folder_ = base_ / "cache";
};

TEST_F(BuildCacheTest, ASecondRunFindsWhatTheFirstMade) {
  std::string binary("cu\0bin", 6);
  EXPECT_FALSE(BuildCache(folder_).contains("ab12"));
  EXPECT_FALSE(BuildCache(folder_).find_or_make("ab12", [&] { return build_of(binary); }).cached);
  EXPECT_TRUE(BuildCache(folder_).contains("ab12"));
  const Build again = BuildCache(folder_).find_or_make("ab12", [&] { return never(); });
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(*again.binary, binary);
  EXPECT_EQ(again.log, "a warning");
}

TEST_F(BuildCacheTest, ARefusedSourceIsKeptWithItsLog) {
  BuildCache(folder_).find_or_make("ab12", [] {
    return Build{nullptr, "line 3: no", true, false};
  });
  const Build again = BuildCache(folder_).find_or_make("ab12", [&] { return never(); });
  EXPECT_EQ(again.binary, nullptr);
  EXPECT_EQ(again.log, "line 3: no");
}

TEST_F(BuildCacheTest, ABuildThatRanOutOfTimeIsNotKept) {
  BuildCache cache(folder_);
  cache.find_or_make("ab12", [] { return Build{nullptr, "", false, false}; });
  EXPECT_FALSE(cache.find("ab12"));
}

TEST_F(BuildCacheTest, ThreadsThatAskForOneKeyMakeItOnce) {
  BuildCache cache(folder_);
  std::atomic<int> made{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const Build build = cache.find_or_make("ab12", [&] {
        ++made;
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        return build_of("x");
      });
      EXPECT_EQ(*build.binary, "x");
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(made, 1);
}

TEST_F(BuildCacheTest, WhatMakingThrowsReachesTheCallerAndIsForgotten) {
  BuildCache cache(folder_);
  EXPECT_THROW(cache.find_or_make("ab12", [&] { return never(); }), std::logic_error);
  EXPECT_EQ(*cache.find_or_make("ab12", [] { return build_of("x"); }).binary, "x");
}

TEST_F(BuildCacheTest, ADamagedFileIsMadeAnew) {
  BuildCache cache(folder_);
  cache.find_or_make("ab12", [] { return build_of("0123456789"); });
  const auto whole = fs::file_size(file_of("ab12"));
  for (const auto bytes : {whole - 1, whole / 2, std::uintmax_t{0}}) {
    fs::resize_file(file_of("ab12"), bytes);
    EXPECT_FALSE(cache.find("ab12")) << bytes;
  }
  std::ofstream(file_of("ab12")) << "autotune-build-2 ab12 0 -5 99999999999 \n";
  EXPECT_FALSE(cache.find("ab12"));
  EXPECT_FALSE(cache.find_or_make("ab12", [] { return build_of("new"); }).cached);
  EXPECT_EQ(*cache.find("ab12")->binary, "new");
}

TEST_F(BuildCacheTest, MayBeDeletedWhileInUse) {
  BuildCache cache(folder_);
  cache.find_or_make("ab12", [] { return build_of("x"); });
  fs::remove_all(folder_);
  EXPECT_EQ(*cache.find_or_make("ab12", [] { return build_of("y"); }).binary, "y");
  EXPECT_EQ(cache.warning(), "");
}

TEST_F(BuildCacheTest, TheFolderIsItsOwnersOnly) {
  const BuildCache cache(folder_);
  struct stat status {};
  ASSERT_EQ(stat(folder_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(BuildCacheTest, AFolderThatOthersMayWriteToIsRefused) {
  fs::create_directories(folder_);
  chmod(folder_.c_str(), 0777);
  const BuildCache cache(folder_);
  EXPECT_NE(cache.warning().find("others may write to it"), std::string::npos) << cache.warning();
}

/// The folder's files as a container image has them: root's, for everybody to read.
TEST_F(BuildCacheTest, AFolderThatMayOnlyBeReadIsRead) {
  BuildCache(folder_).find_or_make("ab12", [] { return build_of("x"); });
  BuildCache(folder_).find_or_make("cd34", [] { return build_of("x"); });
  const bool is_root = geteuid() == 0;
  for (const fs::path& path : {base_, folder_, folder_ / "ab", file_of("ab12"), folder_ / "cd"}) {
    chmod(path.c_str(), is_root || path == file_of("ab12") ? 0755 : 0500);
  }
  chmod(file_of("cd34").c_str(), 0666);
  if (is_root) {
    ASSERT_EQ(seteuid(65534), 0);
  }
  BuildCache cache(folder_);
  EXPECT_TRUE(cache.find_or_make("ab12", [&] { return never(); }).cached);
  EXPECT_FALSE(cache.find_or_make("ef56", [] { return build_of("y"); }).cached);
  EXPECT_FALSE(cache.find("ef56"));
  EXPECT_FALSE(cache.find("cd34")) << "anybody may have written it";
  EXPECT_NE(cache.warning().find("can only be read: Permission denied"), std::string::npos)
      << cache.warning();
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  chmod(folder_.c_str(), 0700);
}

TEST_F(BuildCacheTest, AFolderOfAnotherUserIsNotRead) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make one";
  BuildCache(folder_).find_or_make("ab12", [] { return build_of("x"); });
  ASSERT_EQ(chown(folder_.c_str(), 1234, 1234), 0);
  BuildCache cache(folder_);
  EXPECT_FALSE(cache.find("ab12"));
  EXPECT_NE(cache.warning().find("it belongs to another user"), std::string::npos);
}

TEST_F(BuildCacheTest, ABinaryInUseIsFoundWithoutAFolder) {
  BuildCache cache(fs::path{});
  const Build first = cache.find_or_make("ab12", [] { return build_of("x"); });
  const Build again = cache.find_or_make("ab12", [&] { return never(); });
  EXPECT_TRUE(again.cached);
  EXPECT_EQ(again.binary, first.binary);
  EXPECT_EQ(again.log, "a warning");
}

TEST_F(BuildCacheTest, WorksWithoutAFolder) {
  std::ofstream(base_ / "file") << "x";
  for (const fs::path& folder : {fs::path{}, base_ / "file" / "cache", base_ / "file"}) {
    BuildCache cache(folder);
    EXPECT_EQ(*cache.find_or_make("ab12", [] { return build_of("x"); }).binary, "x");
    EXPECT_NE(cache.warning(), "") << folder;
  }
}

TEST_F(BuildCacheTest, AboveTheCapTheLongestUnusedGoes) {
  BuildCache cache(folder_, 10'000);
  const std::string binary(3000, 'x');
  for (const std::string key : {"aa", "bb", "cc"}) {
    cache.find_or_make(key, [&] { return build_of(binary); });
    const auto age = std::chrono::minutes(key == "aa" ? 3 : key == "bb" ? 2 : 1);
    fs::last_write_time(file_of(key), fs::file_time_type::clock::now() - age);
  }
  EXPECT_TRUE(cache.find("aa"));  // used now: "bb" is the oldest
  cache.find_or_make("dd", [&] { return build_of(binary); });
  EXPECT_FALSE(cache.find("bb"));
  EXPECT_FALSE(cache.find("cc"));
  EXPECT_TRUE(cache.find("aa"));
  EXPECT_TRUE(cache.find("dd"));
}

TEST_F(BuildCacheTest, FilesOfItsUserStayWhateverTheyAreCalled) {
  fs::create_directories(folder_ / "aa");
  fs::create_directories(base_ / "elsewhere" / "ee");
  fs::permissions(folder_, fs::perms::owner_all);
  const fs::path own[] = {folder_ / "thesis.tex",      folder_ / "aa" / "notes",
                          folder_ / "aa" / "aacc",     folder_ / "aa" / "aa11.aside",
                          folder_ / "aa" / "bb.aside", base_ / "elsewhere" / "ee" / "ee11"};
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(9);
  for (const fs::path& file : own) {
    std::ofstream(file) << std::string(3000, 'x');
    fs::last_write_time(file, long_ago);
  }
  fs::create_directory_symlink(base_ / "elsewhere" / "ee", folder_ / "ee");
  BuildCache cache(folder_, 1500);
  cache.find_or_make("aa", [&] { return build_of(std::string(900, 'x')); });
  fs::last_write_time(file_of("aa"), long_ago);
  cache.find_or_make("bb", [&] { return build_of(std::string(900, 'x')); });
  EXPECT_FALSE(cache.find("aa"));
  EXPECT_TRUE(cache.find("bb"));
  for (const fs::path& file : own) EXPECT_TRUE(fs::exists(file)) << file;
}

TEST_F(BuildCacheTest, AWritersFileIsDeletedOnceItIsAbandoned) {
  fs::create_directories(folder_ / "aa");
  fs::permissions(folder_, fs::perms::owner_all);
  const fs::path abandoned = folder_ / "aa" / "aa11.0123456789abcdef.aside";
  const fs::path fresh = folder_ / "aa" / "aa11.0123456789abcdee.aside";
  for (const fs::path& file : {abandoned, fresh}) std::ofstream(file) << "x";
  fs::last_write_time(abandoned, fs::file_time_type::clock::now() - std::chrono::hours(9));
  BuildCache(folder_).find_or_make("bb", [] { return build_of("x"); });
  EXPECT_FALSE(fs::exists(abandoned));
  EXPECT_TRUE(fs::exists(fresh));
}

TEST_F(BuildCacheTest, ABuildUnderAnotherKeyIsMadeAnew) {
  BuildCache cache(folder_);
  for (const std::string key : {"ab12", "ab34"}) {
    cache.find_or_make(key, [&] { return build_of(key); });
  }
  fs::copy_file(file_of("ab34"), file_of("ab12"), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.find("ab12"));
  EXPECT_EQ(*cache.find_or_make("ab12", [] { return build_of("new"); }).binary, "new");
}

TEST(BuildCacheFolder, ComesFromTheEnvironment) {
  setenv("AUTOTUNE_CACHE", "/own", 1);
  setenv("XDG_CACHE_HOME", "/xdg", 1);
  EXPECT_EQ(BuildCache::default_folder(), "/own");
  unsetenv("AUTOTUNE_CACHE");
  EXPECT_EQ(BuildCache::default_folder(), "/xdg/autotune");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", "/home/me", 1);
  EXPECT_EQ(BuildCache::default_folder(), "/home/me/.cache/autotune");
  unsetenv("HOME");
  EXPECT_EQ(BuildCache::default_folder(), "");
}

}  // namespace
}  // namespace autotune
