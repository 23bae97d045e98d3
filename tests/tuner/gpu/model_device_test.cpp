// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/model_device.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/gpu/device_kernels.hpp"
#include "tuner/gpu/nvrtc.hpp"

namespace autotune {
namespace {

namespace fs = std::filesystem;

class ModelDeviceTest : public testing::Test {
 protected:
  ModelDeviceTest() {
    std::string name = (fs::temp_directory_path() / "autotune-model-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~ModelDeviceTest() override { fs::remove_all(folder_); }

  std::unique_ptr<Device> device(int compute_capability = 90) {
    DeviceInfo info;
    info.name = "model of a GPU";
    info.kind = DeviceKind::model;
    info.compute_capability = compute_capability;
    return make_model_device(info, std::make_shared<BuildCache>(folder_ / "cache"));
  }

  fs::path folder_;
};

SourceUnit unit_of(const std::string& body) {
  return {"k.cu", "", "extern \"C\" __global__ void k(float* a) {" + body + "}", {}, {}, {"k"}};
}

TEST_F(ModelDeviceTest, CompilesForAGpuThatIsNotHere) {
  for (const int architecture : {75, 90, 120}) {
    const CompiledKernel kernel = device(architecture)->compile(unit_of("a[0] = 1;"));
    EXPECT_EQ(kernel.outcome, Outcome::ok) << kernel.log;
    ASSERT_EQ(kernel.resources.size(), 1u);
    EXPECT_EQ(kernel.resources[0].entry, "k");
    EXPECT_GT(kernel.resources[0].registers, 0);
  }
}

TEST_F(ModelDeviceTest, OurOwnKernelsCompileForOldAndNew) {
  for (const int architecture : {nvrtc_architectures().front(), 90, nvrtc_architectures().back()}) {
    const CompiledKernel kernel = device(architecture)->compile(device_kernels_source());
    EXPECT_EQ(kernel.outcome, Outcome::ok) << architecture << ": " << kernel.log;
  }
}

TEST_F(ModelDeviceTest, ASecondRunCompilesNothing) {
  const CompiledKernel first = device()->compile(unit_of("a[0] = 1;"));
  const CompiledKernel second = device()->compile(unit_of("a[0] = 1;"));
  EXPECT_FALSE(first.cached);
  EXPECT_GT(first.seconds, 0);
  EXPECT_TRUE(second.cached);
  EXPECT_EQ(second.seconds, 0);
  EXPECT_EQ(second.key, first.key);
  EXPECT_EQ(*second.binary, *first.binary);
  EXPECT_EQ(second.resources, first.resources);
}

TEST_F(ModelDeviceTest, ABadKernelIsAnOutcomeWithTheCompilersWords) {
  for (int run = 0; run < 2; ++run) {
    const CompiledKernel kernel = device()->compile(unit_of("a[0] = nothing;"));
    EXPECT_EQ(kernel.outcome, Outcome::compile_error);
    EXPECT_EQ(kernel.cached, run == 1);
    EXPECT_THAT(kernel.log, HasSubstr("identifier \"nothing\" is undefined"));
  }
}

TEST_F(ModelDeviceTest, AMissingEntryIsACompileErrorThatNamesIt) {
  SourceUnit unit = unit_of("");
  unit.entries = {"k", "other"};
  const CompiledKernel kernel = device()->compile(unit);
  EXPECT_EQ(kernel.outcome, Outcome::compile_error);
  EXPECT_THAT(kernel.log, HasSubstr("void other(...)"));
  EXPECT_THAT(kernel.log, HasSubstr("compiled: k"));
}

TEST_F(ModelDeviceTest, TheKeyFollowsEverythingThatMakesOtherCode) {
  std::ofstream(folder_ / "tile.cuh") << "#define TILE 4\n";
  SourceUnit unit{"k.cu",    "", "#include \"tile.cuh\"\nextern \"C\" __global__ void k() {}",
                  {folder_}, {}, {"k"}};
  const std::string key = device()->compile(unit).key;
  EXPECT_EQ(device()->compile(unit).key, key);
  EXPECT_NE(device(80)->compile(unit).key, key);
  SourceUnit other = unit;
  other.prelude = "#define BM 8\n";
  EXPECT_NE(device()->compile(other).key, key);
  other = unit;
  other.options = {"-use_fast_math"};
  EXPECT_NE(device()->compile(other).key, key);
  std::ofstream(folder_ / "tile.cuh") << "#define TILE 8\n";
  EXPECT_NE(device()->compile(unit).key, key);
}

TEST_F(ModelDeviceTest, RunsNothing) {
  EXPECT_FALSE(device()->runs());
  EXPECT_THROW(device()->open({}), Error);
}

TEST_F(ModelDeviceTest, AnArchitectureBeforeTheCompilersIsRefusedWithTheRange) {
  try {
    device(37);
    FAIL() << "no Error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("compute capability 3.7"));
    EXPECT_THAT(error.what(), HasSubstr("compiles for 7.5"));
  }
}

}  // namespace
}  // namespace autotune
