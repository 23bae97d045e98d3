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
  ASSERT_TRUE(report.best);
  EXPECT_NE(to_text(report.best->configuration), "X=11 Y=2");
  EXPECT_EQ(report.outcomes[static_cast<std::size_t>(Outcome::crash)], 1);
  EXPECT_EQ(report.baselines.size(), 1u);
}

}  // namespace
}  // namespace autotune
