// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/baseline_call.hpp"

#include <gmock/gmock.h>

#include "tests/support/plugin_builder.hpp"
#include "tuner/core/device.hpp"

namespace autotune {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

/// A library for host memory: writes 10 * its way + alpha.
constexpr const char* kLibrary = R"c(
#include <autotune/autotune_plugin.h>
#include <string.h>
static int supports(const char* target) { return strcmp(target, "toy") == 0; }
static const char* open(const autotune_baseline_problem_v1* problem, void** instance) {
  static int opened;
  if (strcmp(problem->problem, "N=13") == 0) return "13 brings bad luck";
  if (problem->count != 2 || problem->buffers[0].data != NULL) return "there are addresses";
  if (strcmp(problem->buffers[1].role, "scalar") != 0) return "there is no scalar";
  *instance = &opened;
  return NULL;
}
static void close(void* instance) { (void)instance; }
static uint32_t candidates(void* instance) { (void)instance; return 2; }
static const char* name(void* instance, uint32_t way) {
  (void)instance;
  return way == 0 ? "standard" : "fast (tile 4)";
}
static const char* launch(void* instance, uint32_t way, void* const* addresses, void* stream) {
  (void)instance;
  if (stream != NULL) return "the stream is gone";
  *(float*)addresses[0] = 10 * way + *(const float*)addresses[1];
  return NULL;
}
static const autotune_baseline_v1 baseline = {supports, open, close, candidates, name, launch};
static const void* facet(const char* id) {
  return strcmp(id, AUTOTUNE_FACET_BASELINE) == 0 ? &baseline : NULL;
}
static const autotune_plugin_v1 plugin = {AUTOTUNE_PLUGIN_ABI, "vendor", "1", "A library", facet};
AUTOTUNE_PLUGIN_EXPORT const autotune_plugin_v1* autotune_plugin(void) { return &plugin; }
)c";

class BaselineCallTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    workshop_ = new testing::PluginWorkshop;
    workshop_->build("vendor", kLibrary);
    workshop_->write("broken.so", "no library");
  }
  static void TearDownTestSuite() { delete workshop_; }

  BaselineCallTest() {
    workload_.problem = "N=1";
    workload_.buffers = {{"out", ElementType::f32, 1, Role::output}};
    workload_.scalars = {{ElementType::f32, 0, 0.5, "alpha"}};
  }

  BaselineCall call(std::string_view name, const std::string& target = "toy") const {
    const std::filesystem::path folders[] = {"/nowhere", workshop_->folder()};
    return BaselineCall(name, target, workload_, folders);
  }
  std::string refusal(std::string_view name, const std::string& target = "toy") const {
    try {
      call(name, target);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  static inline testing::PluginWorkshop* workshop_ = nullptr;
  Workload workload_;
};

TEST_F(BaselineCallTest, CallsTheWayThatIsStoredWithTheCallersScalars) {
  BaselineCall fast = call("vendor fast (tile 4)");
  float out = 0;
  void* const addresses[] = {&out};
  fast.launch(addresses, workload_.scalars, nullptr);
  EXPECT_EQ(out, 10.5F);
  const Scalar own[] = {with_value(workload_.scalars[0], 3)};
  fast.launch(addresses, own, nullptr);
  EXPECT_EQ(out, 13);
  call("vendor standard").launch(addresses, own, nullptr);
  EXPECT_EQ(out, 3);
}

TEST_F(BaselineCallTest, WhatStandsInItsWayIsSaid) {
  EXPECT_THAT(refusal("vendor gone"),
              AllOf(HasSubstr("vendor.so"), HasSubstr("no longer offers \"gone\"")));
  EXPECT_THAT(refusal("vendor fast (tile 4)", "other"),
              HasSubstr("vendor.so: its library is not here, or does not compute this"));
  EXPECT_THAT(refusal("missing standard"), HasSubstr("there is no plugin missing"));
  EXPECT_THAT(refusal("broken standard"), HasSubstr("file too short"));
  EXPECT_THAT(refusal(""), HasSubstr("there is no plugin"));
  EXPECT_THAT(refusal("../plugins/vendor standard"), HasSubstr("there is no plugin"));
  workload_.problem = "N=13";
  EXPECT_THAT(refusal("vendor standard"), HasSubstr("13 brings bad luck"));
}

TEST_F(BaselineCallTest, ALaunchThatFailsIsAKernelFailure) {
  float out = 0;
  void* const addresses[] = {&out};
  BaselineCall standard = call("vendor standard");
  EXPECT_THROW(standard.launch(addresses, workload_.scalars, &out), KernelFailure);
}

TEST(RuntimePluginFolders, AreThoseOfTheVariableAndBesideTheLibrary) {
  setenv("AUTOTUNE_PLUGIN_PATH", "/opt/plugins", 1);
  EXPECT_THAT(runtime_plugin_folders(), Contains("/opt/plugins"));
  unsetenv("AUTOTUNE_PLUGIN_PATH");
}

}  // namespace
}  // namespace autotune
