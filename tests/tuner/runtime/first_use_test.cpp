// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/first_use.hpp"

#include <fstream>
#include <thread>

#include "tests/db/sample.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/matchers.hpp"
#include "tuner/core/error.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

Target raced_toy() {
  Target target;
  target.name = "toy";
  target.source_path = "toy.cu";
  target.source_text = "// toy";
  target.sizes = {"N"};
  target.parameters = {{"B", {1, 2, 4, 8}, {}, false}};
  target.default_configuration = {{"B", 1}};
  target.kernels = {
      {.entry = "toy", .grid = {Expression::parse("N")}, .block = {Expression::parse("32")}}};
  target.reference.kernels = target.kernels;
  target.fingerprint = "f1";
  return target;
}

/// 8 us with B=1.
testing::Fate larger_is_faster(const testing::Macros& macros) {
  return {Outcome::ok, 8e-6 / static_cast<double>(macros.at("B")), ""};
}

using autotune::testing::FakeDevice;
using autotune::testing::Fate;
using autotune::testing::Macros;

constexpr const char* kPolicy = "l2=hot launch=graph";

DeviceInfo h200() {
  DeviceInfo info;
  info.name = "NVIDIA H200";
  info.kind = DeviceKind::cuda;
  info.compute_capability = 90;
  info.environment = "driver 1";
  return info;
}

class FirstUseTest : public ::testing::Test {
 protected:
  FirstUseTest() {
    for (const int n : {64, 100}) add(n, "measured", n == 64 ? "B=2" : "B=4");
  }

  void add(int n, const std::string& provenance, const std::string& configuration,
           const Target& target = raced_toy(), double ns = 5000) {
    db::TunedStore store(path_);
    db::DecisionRow row;
    row.provenance = provenance;
    row.configuration = configuration;
    row.median_ns = ns;
    row.created_at = db::now_text();
    db::SessionRow session;
    session.environment = h200().environment;
    row.session = store.begin_session(session);
    row.key = {store.add_device(device_row(h200())), store.add_kernel(kernel_row(target)),
               format("N={}", n), kPolicy};
    store.add_decision(row);
  }

  TargetLookup open(const Target& target = raced_toy()) const {
    return {target, {}, h200(), kPolicy, {{path_}}};
  }
  FirstUse::Options options(double seconds = 60) {
    FirstUse::Options options;
    options.seconds = seconds;
    options.database = path_;
    options.libraries = [](const std::string&) { return std::vector<BaselineSource>(); };
    options.open_device = [this] {
      ++opened_;
      auto device = std::make_unique<FakeDevice>(truth_);
      device->baselines() = baselines_;
      return device;
    };
    return options;
  }

  db::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "t.db";
  FakeDevice::Truth truth_ = larger_is_faster;
  std::vector<std::pair<std::string, Fate>> baselines_;
  int opened_ = 0;
  const std::vector<std::int64_t> sizes_{80};
};

TEST_F(FirstUseTest, TheWinnerIsTheAnswerFromThenOnAndAtTheNextStartWithoutARace) {
  {
    TargetLookup lookup = open();
    EXPECT_NE(lookup.find(sizes_).origin, db::Origin::exact);
    FirstUse first_use(options());
    first_use.settle(lookup, sizes_);
    EXPECT_EQ(lookup.find(sizes_).origin, db::Origin::exact);
    EXPECT_EQ(lookup.find(sizes_).provenance, "first use");
    EXPECT_EQ(lookup.warnings(), "");
  }
  TargetLookup lookup = open();
  const LookupAnswer answer = lookup.find(sizes_);
  EXPECT_EQ(answer.origin, db::Origin::exact);
  EXPECT_EQ(answer.provenance, "first use");
  EXPECT_EQ(answer.configuration, "B=8") << "a neighbour of those that were good near by";
  EXPECT_DOUBLE_EQ(answer.median_ns, 1000);
  EXPECT_EQ(opened_, 1);
  FirstUse first_use(options());
  first_use.settle(lookup, sizes_);
  EXPECT_EQ(opened_, 1);
  EXPECT_EQ(db::TunedStore(path_).check().damage.size(), 0u);
}

TEST_F(FirstUseTest, WhatIsTunedOrPinnedIsNotRaced) {
  TargetLookup lookup = open();
  FirstUse first_use(options());
  first_use.settle(lookup, std::vector<std::int64_t>{64});
  lookup.pin(sizes_, "B=1");
  first_use.settle(lookup, sizes_);
  EXPECT_EQ(opened_, 0);
}

TEST_F(FirstUseTest, APredictedAnswerIsRaced) {
  add(80, "predicted", "B=1");
  TargetLookup lookup = open();
  FirstUse(options()).settle(lookup, sizes_);
  EXPECT_EQ(open().find(sizes_).configuration, "B=8");
}

TEST_F(FirstUseTest, AFasterLibraryIsTheAnswer) {
  baselines_ = {{"way 1", {Outcome::ok, 0.5e-6, ""}}};
  FirstUse::Options wanted = options();
  wanted.libraries = [](const std::string& target) {
    return std::vector<BaselineSource>{{"/plugins/vendor.so", target}};
  };
  TargetLookup lookup = open();
  FirstUse(std::move(wanted)).settle(lookup, sizes_);
  TargetLookup next = open();
  for (TargetLookup* const one : {&lookup, &next}) {
    EXPECT_EQ(one->find(sizes_).configuration, "B=8");
    EXPECT_DOUBLE_EQ(one->find(sizes_).baseline_ns, 500);
    EXPECT_EQ(one->find(sizes_).baseline, "vendor way 1");
  }
}

TEST_F(FirstUseTest, WithoutAnyDatabaseTheDefaultIsRacedAndTheDatabaseIsMade) {
  path_ = folder_ / "new/t.db";
  TargetLookup lookup = open();
  FirstUse(options()).settle(lookup, sizes_);
  EXPECT_EQ(open().find(sizes_).configuration, "B=1");
  EXPECT_EQ(open().find(sizes_).provenance, "first use");
}

TEST_F(FirstUseTest, WhereItCannotBeStoredItIsTheAnswerAndOneWarningSaysSo) {
  const std::filesystem::path text = folder_ / "text.db";
  std::ofstream(text) << "no database at all";
  FirstUse::Options wanted = options();
  wanted.database = text / "t.db";
  TargetLookup lookup = open();
  FirstUse first_use(std::move(wanted));
  first_use.settle(lookup, sizes_);
  const std::string warnings = lookup.warnings();
  EXPECT_THAT(warnings, HasSubstr("what is found at first use is not stored: "));
  EXPECT_EQ(lookup.find(sizes_).configuration, "B=8");
  lookup.refresh();
  EXPECT_EQ(lookup.find(sizes_).configuration, "B=8") << "as no database knows better";
  first_use.settle(lookup, sizes_);
  first_use.settle(lookup, std::vector<std::int64_t>{90});
  EXPECT_EQ(lookup.warnings(), "") << "said once";
}

TEST_F(FirstUseTest, WhatFailedInARaceIsNoAnswerAnyMore) {
  std::string answered(open().find(sizes_).configuration);
  truth_ = [&](const Macros& macros) -> Fate {
    const bool is_answer = format("B={}", macros.at("B")) == answered;
    return {is_answer ? Outcome::wrong : Outcome::compile_error, 1e-6, "D[0] is 0"};
  };
  TargetLookup lookup = open();
  FirstUse(options()).settle(lookup, sizes_);
  EXPECT_NE(lookup.find(sizes_).configuration, answered);
  EXPECT_THAT(lookup.warnings(), HasSubstr("1 failed"));
  EXPECT_NE(open().find(sizes_).configuration, answered) << "at the next start";
  EXPECT_EQ(open().find(std::vector<std::int64_t>{81}).configuration, answered);
  EXPECT_EQ(db::TunedStore(path_).check().damage.size(), 0u);

  truth_ = [](const Macros& macros) -> Fate {
    if (macros.at("B") == 8) return {Outcome::nondeterministic, 1e-6, "D[0] changes"};
    return larger_is_faster(macros);
  };
  TargetLookup other = open();
  const std::vector<std::int64_t> sizes{82};
  FirstUse(options()).settle(other, sizes);
  EXPECT_EQ(other.find(sizes).configuration, "B=4") << "the fastest of the right ones";
  EXPECT_EQ(open().find(sizes).configuration, "B=4");
}

TEST_F(FirstUseTest, ARaceThatFailsLeavesTheAnswerAndOneWarning) {
  truth_ = [](const Macros&) { return Fate{Outcome::compile_error, 1e-6, "error"}; };
  TargetLookup lookup = open();
  const std::string before(lookup.find(sizes_).configuration);
  FirstUse first_use(options());
  first_use.settle(lookup, sizes_);
  first_use.settle(lookup, std::vector<std::int64_t>{90});
  EXPECT_EQ(lookup.find(sizes_).configuration, before);
  EXPECT_NE(lookup.find(sizes_).provenance, "first use");
  EXPECT_EQ(lookup.warnings().find("its first use is answered without a race"),
            lookup.warnings().rfind("its first use is answered without a race"));
  EXPECT_THAT(lookup.warnings(), HasSubstr("toy N=80: its first use is answered without a race: "));

  FirstUse::Options none = options();
  none.open_device = []() -> std::unique_ptr<Device> { throw Error("the GPU is gone"); };
  TargetLookup other = open();
  FirstUse(std::move(none)).settle(other, sizes_);
  EXPECT_THAT(other.warnings(), HasSubstr("the GPU is gone"));
}

class FirstUseRace : public ::testing::Test {
 protected:
  void on(FakeDevice::Truth truth) { device_ = std::make_shared<FakeDevice>(std::move(truth)); }
  std::optional<RaceResult> raced(double seconds = 60) {
    return race(device_, target_, problem_of(target_, {{"N", 64}}, {}), {}, entrants_,
                Deadline::in(seconds))
        .result;
  }

  const Target target_ = raced_toy();
  RaceEntrants entrants_{{"B=1", "B=2", "B=4", "B=8"}, {}};
  std::shared_ptr<FakeDevice> device_ = std::make_shared<FakeDevice>(larger_is_faster);
};

TEST_F(FirstUseRace, TheFastestThatStaysRightWins) {
  auto result = raced();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->configuration, "B=8");
  EXPECT_DOUBLE_EQ(result->time.median, 1e-6);
  EXPECT_FALSE(result->library);
  on([](const Macros& macros) {
    Fate fate = larger_is_faster(macros);
    fate.stops_after = macros.at("B") == 8 ? 10 : 0;
    return fate;
  });
  result = raced();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->configuration, "B=4") << "wrong after many calls";
}

TEST_F(FirstUseRace, WhatIsWrongOrDoesNotCompileOrCrashesIsOut) {
  on([](const Macros& macros) {
    constexpr Outcome kOutcomes[] = {Outcome::ok, Outcome::launch_error, Outcome::compile_error,
                                     Outcome::wrong};
    Fate fate = larger_is_faster(macros);
    fate.outcome = kOutcomes[std::countr_zero(static_cast<unsigned>(macros.at("B")))];
    return fate;
  });
  EXPECT_EQ(raced()->configuration, "B=1");
}

TEST_F(FirstUseRace, WhereNoneIsRightThereIsNoResult) {
  on([](const Macros&) { return Fate{Outcome::wrong, 1e-6, "C[0] is nan"}; });
  EXPECT_FALSE(raced());
  entrants_.configurations.clear();
  EXPECT_FALSE(raced());
}

TEST_F(FirstUseRace, TheLibrarysFastestRightWayIsTimedBesideThem) {
  device_->baselines() = {{"slow", {Outcome::ok, 3e-6, ""}},
                          {"fast", {Outcome::ok, 0.5e-6, ""}},
                          {"broken", {Outcome::wrong, 0.1e-6, ""}}};
  entrants_.libraries = {{"/plugins/vendor.so", "toy"}};
  const auto result = raced();
  ASSERT_TRUE(result && result->library);
  EXPECT_EQ(result->configuration, "B=8") << "so there is something to launch without the library";
  EXPECT_EQ(result->library->plugin, "vendor");
  EXPECT_EQ(result->library->candidate, "fast");
  EXPECT_TRUE(result->library->wins);
  device_->baselines()[1].second.seconds = 2e-6;
  EXPECT_FALSE(raced()->library->wins);
}

/// A device that compiles some configurations until it is told to end.
class SlowCompiler final : public Device {
 public:
  explicit SlowCompiler(std::string slow) : slow_(std::move(slow)) {}
  const DeviceInfo& info() const override { return fake_.info(); }
  CompiledKernel compile(const SourceUnit& unit) override {
    const bool is_slow = unit.prelude.find(slow_) != std::string::npos;
    while (is_slow && !ended) std::this_thread::yield();
    return fake_.compile(unit);
  }
  std::unique_ptr<Workbench> open(const Workload& workload) override {
    return fake_.open(workload);
  }

  std::atomic<bool> ended = false;

 private:
  std::string slow_;
  FakeDevice fake_{larger_is_faster};
};

TEST_F(FirstUseRace, ACompilationThatDoesNotEndIsNotWaitedFor) {
  const auto device = std::make_shared<SlowCompiler>("#define B 8\n");
  entrants_.configurations = {"B=4", "B=8"};
  Race raced =
      race(device, target_, problem_of(target_, {{"N", 64}}, {}), {}, entrants_, Deadline::in(2));
  ASSERT_TRUE(raced.result);
  EXPECT_EQ(raced.result->configuration, "B=4");
  EXPECT_FALSE(raced.compilations->have_ended());
  device->ended = true;
}

TEST_F(FirstUseRace, WhatCannotBeOpenedIsAnError) {
  class Full final : public Device {
   public:
    const DeviceInfo& info() const override { return info_; }
    CompiledKernel compile(const SourceUnit&) override { return {}; }
    std::unique_ptr<Workbench> open(const Workload&) override { throw Error("out of memory"); }
    DeviceInfo info_;
  };
  EXPECT_THROW(race(std::make_shared<Full>(), target_, problem_of(target_, {{"N", 64}}, {}), {},
                    entrants_, Deadline::in(60)),
               Error);
}

}  // namespace
}  // namespace autotune
