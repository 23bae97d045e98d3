// SPDX-License-Identifier: Apache-2.0
#include "tuner/host/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

namespace autotune {
namespace {

namespace fs = std::filesystem;

/// $TMPDIR in a folder of its own for as long as it lives.
class TemporaryFolders : public testing::Test {
 protected:
  TemporaryFolders() {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    base_.emplace();
    setenv("TMPDIR", base_->path().c_str(), 1);
  }
  ~TemporaryFolders() override {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
  }

  /// What another process has made when it was killed.
  fs::path abandoned() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      const TemporaryFolder folder;
      std::ofstream(folder.path() / "file") << "text";
      const std::string name = folder.path().string();
      if (write(ends[1], name.data(), name.size()) < 0) _exit(1);
      raise(SIGKILL);
    }
    close(ends[1]);
    char name[4096];
    const ssize_t got = read(ends[0], name, sizeof name);
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return std::string(name, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }

  std::optional<std::string> before_;
  std::optional<TemporaryFolder> base_;
};

TEST_F(TemporaryFolders, AreRemovedWithWhatTheyHold) {
  fs::path path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    fs::create_directories(path / "deep");
    std::ofstream(path / "deep/file") << "text";
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(TemporaryFolders, OfKilledProcessesAreRemovedByTheNext) {
  const fs::path left = abandoned();
  ASSERT_TRUE(fs::exists(left / "file"));
  const TemporaryFolder ours;
  remove_abandoned_folders();
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(ours.path())) << "it is in use";
}

TEST_F(TemporaryFolders, OfThisProcessCanAllBeRemovedAtOnce) {
  const TemporaryFolder one, other;
  std::ofstream(other.path() / "file") << "text";
  remove_own_folders();
  EXPECT_FALSE(fs::exists(one.path()));
  EXPECT_FALSE(fs::exists(other.path()));
}

}  // namespace
}  // namespace autotune
