// SPDX-License-Identifier: Apache-2.0
// What autotune doctor finds of GPUs, in folders that stand for `/`.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/cli/tool.hpp"
#include "tuner/cli/doctor.hpp"

namespace autotune::testing {
namespace {

using cli::Finding;
using cli::Findings;
using cli::Health;
using ::testing::HasSubstr;

const Finding* find(const Findings& found, const std::string& what) {
  const auto at = std::ranges::find(found, what, &Finding::what);
  return at == found.end() ? nullptr : &*at;
}

/// A folder that stands for `/`.
class DoctorOfGpus : public ::testing::Test {
 protected:
  void file(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_.folder() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void gpus() const {
    for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) {
      file(std::string("dev/") + name, "");
    }
    file("sys/module/nvidia/version", "580.1\n");
    file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 0\n");
  }
  Findings found() const { return cli::gpu_findings(toolkit_, root_.folder()); }

  Sandbox root_;
  Toolkit toolkit_{true, "13.0.88", "/cuda/lib64", {"/cuda/include"}, 13000, 13000, ""};
};

TEST_F(DoctorOfGpus, IsContentWithoutAny) {
  toolkit_.driver = 0;
  toolkit_.device_error = "no driver";
  const Findings all = found();
  for (const Finding& each : all) EXPECT_NE(each.health, Health::problem) << each.state;
  EXPECT_THAT(find(all, "driver")->advice, HasSubstr("--device host"));
}

TEST_F(DoctorOfGpus, FindsNothingToDoWhereAllIsThere) {
  gpus();
  file("run/nvidia-persistenced/socket", "");
  for (const Finding& each : found()) EXPECT_EQ(each.health, Health::ok) << each.state;
  EXPECT_THAT(find(found(), "driver")->state, HasSubstr("580.1, CUDA 13.0"));
  EXPECT_THAT(find(found(), "devices")->state, HasSubstr("2 GPUs"));
}

TEST_F(DoctorOfGpus, NamesTheNodeThatIsMissing) {
  gpus();
  std::filesystem::remove(root_.folder() / "dev/nvidia-uvm");
  EXPECT_EQ(find(found(), "devices")->health, Health::problem);
  EXPECT_THAT(find(found(), "devices")->state, HasSubstr("nvidia-uvm is not there"));
}

TEST_F(DoctorOfGpus, SaysThatTheDriverIsTooOldOrMissing) {
  gpus();
  toolkit_.driver = 12040;
  EXPECT_EQ(find(found(), "driver")->health, Health::problem);
  EXPECT_THAT(find(found(), "driver")->state, HasSubstr("needs CUDA 13.0"));
  toolkit_.driver = 0;
  std::filesystem::remove(root_.folder() / "sys/module/nvidia/version");
  EXPECT_THAT(find(found(), "driver")->advice, HasSubstr("container"));
}

TEST_F(DoctorOfGpus, SaysWhoMayReadCounters) {
  gpus();
  file("proc/driver/nvidia/params", "RmProfilingAdminOnly: 1\n");
  EXPECT_EQ(find(found(), "counters")->health, geteuid() == 0 ? Health::ok : Health::note);
  std::filesystem::remove(root_.folder() / "proc/driver/nvidia/params");
  EXPECT_EQ(find(found(), "counters")->health, Health::note);
}

TEST_F(DoctorOfGpus, SaysWhatTheRuntimeComplainsOf) {
  gpus();
  toolkit_.device_error = "no CUDA-capable device is detected";
  EXPECT_EQ(find(found(), "CUDA")->health, Health::problem);
}

TEST_F(DoctorOfGpus, AToolkitThatIsNotThereIsANote) {
  toolkit_ = {};
  EXPECT_EQ(find(found(), "toolkit")->health, Health::note);
  EXPECT_EQ(find(found(), "headers"), nullptr);
}

}  // namespace
}  // namespace autotune::testing
