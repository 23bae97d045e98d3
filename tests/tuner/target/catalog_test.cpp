// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/catalog.hpp"

#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/tuner/target/scratch.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* kCopy = R"toml(manifest = 2
name = "mine"
source = "mine.cu"
sizes = ["N"]
arguments.y = { type = "f32", length = "N", role = "output" }
kernels.mine = { grid = ["N"], block = [1], arguments = ["y"] }
reference.configuration = "default"
)toml";

class CatalogTest : public testing::Test {
 protected:
  CatalogTest() {
    folder_.write("mine/mine.cu", "");
    manifest_ = folder_.write("mine/mine.target.toml", kCopy);
    folder_.write("other/readme", "");
    setenv("AUTOTUNE_KERNEL_PATH", ("/none:" + folder_.path().string()).c_str(), 1);
  }
  ~CatalogTest() override { unsetenv("AUTOTUNE_KERNEL_PATH"); }

  ScratchFolder folder_;
  std::filesystem::path manifest_;
};

TEST_F(CatalogTest, ANameThatIsNotListedMeansAManifestOfThisFolder) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path() / "mine");
  std::filesystem::copy_file("mine.target.toml", "here.target.toml");
  EXPECT_EQ(manifest_called("here"), "here.target.toml");
  EXPECT_EQ(manifest_called("mine"), manifest_) << "the listed one";
  EXPECT_EQ(manifest_called("nothing"), "");
  std::filesystem::current_path(before);
}

TEST_F(CatalogTest, ATargetIsFoundByNameOrByPath) {
  EXPECT_EQ(find_target("mine").manifest, manifest_);
  EXPECT_EQ(find_target(manifest_.string()).name, "mine");
}

TEST_F(CatalogTest, OnlyFoldersWithAManifestAreListed) {
  bool mine = false;
  for (const CatalogEntry& entry : list_targets()) {
    mine = mine || entry.name == "mine";
    EXPECT_NE(entry.name, "other");
  }
  EXPECT_TRUE(mine);
}

TEST_F(CatalogTest, InstalledFoldersAreSearchedAfterThoseOfTheUser) {
  ScratchFolder installed;
  installed.write("mine/mine.cu", "");
  const std::filesystem::path shipped = installed.write("mine/mine.target.toml", kCopy);
  const std::filesystem::path folders[] = {installed.path()};
  EXPECT_EQ(find_target_in(folders, "mine").manifest, manifest_);
  unsetenv("AUTOTUNE_KERNEL_PATH");
  EXPECT_EQ(find_target_in(folders, "mine").manifest, shipped);
  EXPECT_THAT([&] { find_target_in(folders, "mime"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean mine?")));
}

TEST_F(CatalogTest, AMisspeltNameIsAnsweredWithANearOne) {
  EXPECT_THAT([] { find_target("mime"); },
              ThrowsMessage<UsageError>(HasSubstr("there is no target mime (did you mean mine?")));
  EXPECT_THAT(
      [] { find_target("./none.target.toml"); },
      ThrowsMessage<UsageError>(HasSubstr("./none.target.toml: there is no such manifest")));
}

}  // namespace
}  // namespace autotune
