// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/matchers.hpp"
#include "tests/support/plugin_builder.hpp"
#include "tuner/core/device.hpp"
#include "tuner/runtime/baseline_call.hpp"

namespace autotune {
namespace {

/// A GPU on which the kernel takes half of the library's time.
struct Simulated {
  bool is_captured = false, is_idle = false, fails = false;
  int late = 0;  // how often a time is asked for before the call has ended
  Way runs = Way::library;
  int begun = 0;
};

class SimulatedTimer : public CallTimer {
 public:
  explicit SimulatedTimer(Simulated& gpu) : gpu_(gpu) {}
  bool may_time(void*) override { return !gpu_.is_captured; }
  void begin(void*) override {
    if (gpu_.fails) throw std::runtime_error("no memory for an event");
    ++gpu_.begun;
  }
  bool end(void*) override {
    asked_ = 0;
    return !gpu_.is_idle;
  }
  std::optional<double> seconds() override {
    if (asked_++ < gpu_.late) return std::nullopt;
    return gpu_.runs == Way::kernel ? 0.5e-3 : 1e-3;
  }

 private:
  Simulated& gpu_;
  int asked_ = 0;
};

class EarnedCallsTest : public testing::Test {
 protected:
  void call(void* stream, int count = 1) {
    for (; count > 0; --count) {
      const Earning::Turn turn = calls_.begin(stream);
      if (!turn.is_timed) continue;
      gpu_.runs = turn.way;
      calls_.end(stream, true);
    }
  }

  Simulated gpu_;
  int decisions_ = 0;
  EarnedCalls calls_{Earning(Way::library, {1e-3, 1e-3}),
                     [&] { return std::make_unique<SimulatedTimer>(gpu_); },
                     [&](const Earning&) { ++decisions_; }};
  int streams_[2] = {};
  void* const one_ = &streams_[0];
  void* const other_ = &streams_[1];
};

TEST_F(EarnedCallsTest, WhatIsFasterServesOnceItIsDecided) {
  gpu_.late = 3;
  call(one_, 2000);
  EXPECT_EQ(decisions_, 1);
  EXPECT_EQ(calls_.serves(), Way::kernel);
  EXPECT_EQ(gpu_.begun, 24);
}

TEST_F(EarnedCallsTest, CapturedCallsGetTheAnswerOfTheMoment) {
  gpu_.is_captured = true;
  call(one_, 2000);
  EXPECT_EQ(gpu_.begun, 0);
  EXPECT_EQ(calls_.begin(one_).way, Way::library);
}

TEST_F(EarnedCallsTest, TimesOfAnIdleStreamAndCallsThatWereNotMadeDecideNothing) {
  gpu_.is_idle = true;
  call(one_, 2000);
  EXPECT_GT(gpu_.begun, 0);
  EXPECT_EQ(decisions_, 0);
  gpu_.is_idle = false;
  for (int i = 0; i < 2000; ++i) {
    if (calls_.begin(one_).is_timed) calls_.end(one_, false);
  }
  EXPECT_EQ(decisions_, 0);
}

TEST_F(EarnedCallsTest, CallsBesideAnotherStreamDecideNothing) {
  for (int i = 0; i < 1000; ++i) call(one_), call(other_);
  EXPECT_EQ(decisions_, 0);
  call(other_, 2000);
  EXPECT_EQ(decisions_, 1);
}

TEST_F(EarnedCallsTest, WhereATimerFailsNothingIsTimedAnyMore) {
  gpu_.fails = true;
  call(one_, 2000);
  EXPECT_EQ(gpu_.begun, 0);
  EXPECT_EQ(calls_.serves(), Way::library);
}

TEST_F(EarnedCallsTest, ThreadsMayCallAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int call = 0; call < 5000; ++call) {
        if (calls_.begin(one_).is_timed) calls_.end(one_, true);
      }
    });
  }
  threads.clear();
  EXPECT_LE(decisions_, 1);
  EXPECT_EQ(calls_.serves(), Way::library) << "all took the same time";
}

/// A library for host memory: writes 10 * its way + alpha.
const std::string kLibrary = testing::plugin_with({{"BASELINE", "baseline"}}, "vendor", R"c(
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
)c");

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
    return thrown_by([&] { call(name, target); });
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
