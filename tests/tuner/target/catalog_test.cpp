// SPDX-License-Identifier: Apache-2.0
#include "tuner/target/catalog.hpp"

#include <cstdlib>
#include <sstream>

#include "tests/support/matchers.hpp"
#include "tests/support/scratch_folder.hpp"
#include "tests/support/shipped_manifests.hpp"
#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"
#include "tuner/target/manifest.hpp"
#include "tuner/target/new_target.hpp"

namespace autotune {
namespace {

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
  EXPECT_REFUSAL(UsageError, find_target_in(folders, "mime"), "did you mean mine?");
}

TEST_F(CatalogTest, AMisspeltNameIsAnsweredWithANearOne) {
  EXPECT_REFUSAL(UsageError, find_target("mime"), "there is no target mime (did you mean mine?");
  EXPECT_REFUSAL(UsageError, find_target("./none.target.toml"),
                 "./none.target.toml: there is no such manifest");
}

TEST(NewTarget, TheNameMustBeOneInCToo) {
  for (const char* const name : {"", "my-kernel", "2nd", "größe", "a b"}) {
    EXPECT_REFUSAL(UsageError, new_target_files(name), "\"" + std::string(name) + "\" cannot name")
        << name;
  }
}

TEST(NewTarget, ANameThatHoldsThePlaceholderIsWrittenOnce) {
  const TargetFiles files = new_target_files("MY_NAME");
  EXPECT_THAT(files.source, HasSubstr(" MY_NAME_kernel("));
  const ScratchFolder folder;
  folder.write("MY_NAME.cu", files.source);
  const Target target = load_manifest(folder.write("MY_NAME.target.toml", files.manifest));
  EXPECT_EQ(target.name, "MY_NAME");
}

// The example of docs/manifest.md is a manifest.

TEST(Documentation, ItsExampleLoadsAndPlansALaunch) {
  std::ifstream page(AUTOTUNE_SOURCE_DIR "/docs/manifest.md");
  std::stringstream text;
  text << page.rdbuf();
  const std::string all = text.str();
  const std::size_t start = all.find("```toml\n") + 8;
  ASSERT_LT(start, all.size());
  const ScratchFolder folder;
  folder.write("axpy.cu", "");
  const Target target = load_manifest(
      folder.write("axpy.target.toml", all.substr(start, all.find("```", start) - start)));
  const Problem problem = problem_of(target, {{"N", 1000}}, {});
  const DeviceInfo device;
  const ParameterSpace space = space_of(target, problem, device);
  EXPECT_EQ(space.size(), 16u);
  const LaunchPlan plan =
      launch_plan(target, problem, valid_default(target, problem, device), device);
  EXPECT_EQ(plan.launches[0].grid.x, 4);
}

// Every manifest that ships loads, and has a legal default on a GPU and on the host.

DeviceInfo a_gpu() {
  DeviceInfo device;
  device.name = "a GPU";
  device.kind = DeviceKind::cuda;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.shared_bytes_per_block = 227 << 10;
  return device;
}

DeviceInfo the_host() {
  DeviceInfo device;
  device.name = "the host";
  device.kind = DeviceKind::host;
  return device;
}

/// 512 each, and as much as a matrix has between matrices.
NamedValues sizes_of(const Target& target) {
  NamedValues sizes;
  for (std::size_t i = 0; i < needed_sizes(target); ++i) {
    const std::string& name = target.sizes[i];
    sizes.push_back({name, name.starts_with("stride") ? 512 * 512 : 512});
  }
  return sizes;
}

class Shipped : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(Shipped, LoadsAndHasALegalDefault) {
  const Target target = load_manifest(GetParam());
  EXPECT_EQ(target.name + ".target.toml", GetParam().filename());
  EXPECT_FALSE(target.description.empty());
  const Problem problem = problem_of(target, sizes_of(target), {});
  for (const DeviceInfo& device : {a_gpu(), the_host()}) {
    SCOPED_TRACE(device.name);
    const Configuration chosen = valid_default(target, problem, device);
    EXPECT_FALSE(launch_plan(target, problem, chosen, device).launches.empty());
    EXPECT_FALSE(source_unit(target, problem, chosen, device).prelude.empty());
    EXPECT_FALSE(workload_of(target, problem, device).buffers.empty());
    EXPECT_GT(work_of(target, problem, device).bytes, 0);
  }
}

TEST_P(Shipped, ItsDefaultIsLegalAsItStandsOnAGpu) {
  const Target target = load_manifest(GetParam());
  const TargetProgram program(target, problem_of(target, sizes_of(target), {}), a_gpu());
  EXPECT_TRUE(program.is_valid(program.levels(target.default_configuration)))
      << to_text(target.default_configuration);
}

struct Types {
  const char *setting, *value, *mma, *wgmma;
};
class OnTensorCores : public testing::TestWithParam<Types> {};

TEST_P(OnTensorCores, WhatAGpuWithoutThemLacksIsSaid) {
  const auto& [setting, value, mma, wgmma] = GetParam();
  const Target target = load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm/gemm.target.toml");
  const Problem problem = problem_of(target, sizes_of(target), {{setting, value}});
  const auto refusal = [&](const NamedValues& fixed, int capability) -> std::string {
    DeviceInfo gpu = a_gpu();
    gpu.compute_capability = capability;
    gpu.shared_bytes_per_block = 99 << 10;
    return thrown_by([&] { valid_default(with_fixed(target, fixed), problem, gpu); });
  };
  EXPECT_THAT(refusal({}, 75), testing::HasSubstr("on this device: it needs compute capability 8.0 "
                                                  "or later, and a GPU has 7.5; choose another"));
  EXPECT_THAT(refusal({{"KERNEL", wgmma}}, 80),
              testing::HasSubstr("it needs compute capability 9.0, and a GPU has 8.0"));
  EXPECT_THAT(refusal({{"STAGES", 8}, {"KERNEL", mma}}, 90), testing::HasSubstr("relax"));
  EXPECT_NO_THROW(refusal({}, 80));
}

INSTANTIATE_TEST_SUITE_P(Types, OnTensorCores,
                         testing::Values(Types{"dtype", "bf16", "mma", "wgmma"},
                                         Types{"dtype", "i8", "mma_along_k", "wgmma_along_k"},
                                         Types{"math", "tf32", "mma_along_k", "wgmma_along_k"}),
                         [](const auto& each) { return std::string(each.param.value); });

INSTANTIATE_TEST_SUITE_P(Targets, Shipped, testing::ValuesIn(shipped_manifests()),
                         [](const auto& each) {
                           return each.param.parent_path().filename().string();
                         });

}  // namespace
}  // namespace autotune
