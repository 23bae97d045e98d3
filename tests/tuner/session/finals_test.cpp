// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finals.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

using FinalsTest = StoreTest;

TEST_F(FinalsTest, AFinalistThatCannotBeLoadedAgainCostsItselfOnly) {
  const Target target = two_parameters();
  // The workbench of the search, that of the edge problem, and the one half-way in the playoff.
  FakeDevice* fake = nullptr;
  FakeDevice device([&](const Macros& macros) -> Fate {
    if (macros.at("X") == 11 && macros.at("Y") == 2 && fake->opened() > 2) {
      throw KernelFailure(Outcome::crash, "no room");
    }
    return bowl(macros);
  });
  fake = &device;
  device.baselines() = {{"standard", {Outcome::ok, 2e-5, ""}}};
  TuningRequest request = request_for(target, {64});
  request.baselines = {{"/lib/vendor.so", "toy"}};
  db::TunedStore store = open_store();
  const ProblemReport report = tune(target, device, &store, request).problems.at(0);
  ASSERT_TRUE(report.decision.best);
  EXPECT_DOUBLE_EQ(report.decision.best->measurement.median, 1.1e-5) << "those behind it move up";
  EXPECT_EQ(report.outcomes[static_cast<std::size_t>(Outcome::crash)], 1);
  EXPECT_EQ(report.decision.baselines.size(), 1u);
}

TEST_F(FinalsTest, TrialsBehindARefutedLeaderMoveUp) {
  Target target = two_parameters();
  target.bake_sizes = Expression::parse("1");
  FakeDevice device([](const Macros& macros) -> Fate {
    if (macros.at("SIZE_N") == 65 && macros.at("X") > 9) return {Outcome::wrong, 0, "C[64] is 0"};
    return bowl(macros);
  });
  const TuningReport report = tune(target, device, nullptr, request_for(target, {64}));
  EXPECT_EQ(to_text(report.problems[0].decision.best->configuration), "X=9 Y=2");
}

}  // namespace
}  // namespace autotune
