// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/counting.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/device.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Macros;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

/// Counts as many instructions as a launch takes nanoseconds.
class CountedCandidate final : public Candidate, public Countable {
 public:
  explicit CountedCandidate(std::unique_ptr<Candidate> timed) : timed_(std::move(timed)) {}
  Verdict verify(int runs, double give_up_seconds) override {
    return timed_->verify(runs, give_up_seconds);
  }
  TimedBatch time(int count, L2State l2) override { return timed_->time(count, l2); }
  Counters counters(const std::filesystem::path& plugin) override {
    const Verdict verdict = timed_->verify(1, 0);
    return {{"instructions", "", verdict.seconds * 1e9}, {plugin.string(), "bytes", 0.5}};
  }

 private:
  std::unique_ptr<Candidate> timed_;
};

class CountedWorkbench final : public Workbench {
 public:
  explicit CountedWorkbench(std::unique_ptr<Workbench> bench) : bench_(std::move(bench)) {}
  std::unique_ptr<Candidate> load(const CompiledKernel& kernel, const LaunchPlan& plan) override {
    return std::make_unique<CountedCandidate>(bench_->load(kernel, plan));
  }
  double launch_floor() override { return 0; }

 private:
  std::unique_ptr<Workbench> bench_;
};

class CountedDevice final : public Device {
 public:
  explicit CountedDevice(FakeDevice& device) : device_(device) {}
  const DeviceInfo& info() const override { return device_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override { return device_.compile(unit); }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    return std::make_unique<CountedWorkbench>(device_.open(workload));
  }

 private:
  FakeDevice& device_;
};

/// N=64 is tuned: X=11, Y=2 is the best, the default is X=1, Y=1.
class CountFinalists : public StoreTest {
 protected:
  CountFinalists() {
    tune(target_, device_, &store_, request_for(target_, {64}));
    device_.mutable_info().environment = "driver 1";
  }

  db::TunedEntry entry() const { return store_.tuned({}).at(0); }
  void count(Device& device) {
    count_finalists(store_, entry(), target_, device, "a.so",
                    [this](const std::string& sentence) { warnings_.push_back(sentence); });
  }
  std::vector<std::string> stored() const {
    std::vector<std::string> texts;
    for (const db::CounterRow& row : db::counters_of(store_, entry().best.key)) {
      texts.push_back(row.configuration + ": " + row.figures + ", " + row.environment);
    }
    return texts;
  }

  Target target_ = two_parameters();
  bool default_crashes_ = false;
  FakeDevice device_{[this](const Macros& macros) {
    if (default_crashes_ && macros.at("X") == 1) return Fate{Outcome::crash, 0, "it fell over"};
    return bowl(macros);
  }};
  db::TunedStore store_ = open_store();
  std::vector<std::string> warnings_;
};

TEST_F(CountFinalists, StoresTheFiguresOfTheBestAndOfTheDefault) {
  CountedDevice counted(device_);
  count(counted);
  EXPECT_THAT(stored(), ElementsAre("X=1 Y=1: instructions=21000 a.so=0.5, driver 1",
                                    "X=11 Y=2: instructions=10000 a.so=0.5, driver 1"));
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(CountFinalists, LeavesOutWhatFailsWithAWarning) {
  default_crashes_ = true;
  CountedDevice counted(device_);
  count(counted);
  EXPECT_THAT(stored(), ElementsAre(StartsWith("X=11 Y=2: ")));
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("X=1 Y=1 is not counted: it fell over")));
}

TEST_F(CountFinalists, ADeviceWithoutCountersIsAnError) {
  EXPECT_THAT([this] { count(device_); }, ThrowsMessage<Error>(HasSubstr("counters")));
  EXPECT_THAT(stored(), IsEmpty());
}

}  // namespace
}  // namespace autotune
