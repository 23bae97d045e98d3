// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/energy_choice.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"
#include "tuner/core/error.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using testing::Macros;

/// X=11 Y=2 is the fastest, 1 % a step; X=10 Y=2 uses half of its energy, X=12 Y=2 0.99 of it.
Fate thrifty(const Macros& macros) {
  Fate fate = bowl(macros);
  fate.seconds = 0.9e-5 + 0.1 * fate.seconds;
  fate.joules = 2e-3;
  if (macros.at("Y") == 2 && macros.at("X") == 10) fate.joules = 1e-3;
  if (macros.at("Y") == 2 && macros.at("X") == 12) fate.joules = 1.98e-3;
  return fate;
}

class EnergyChoice : public StoreTest {
 protected:
  EnergyChoice() { device_.measure_energy(); }
  ProblemReport tune(Objective objective) {
    TuningRequest request = request_for(target_, {64});
    request.policy.objective = objective;
    return autotune::tune(target_, device_, nullptr, request).problems.at(0);
  }

  const Target target_ = two_parameters();
  FakeDevice device_{thrifty};
};

TEST_F(EnergyChoice, TheFinalistWithTheLeastEnergyWins) {
  const ProblemReport report = tune(Objective::energy);
  EXPECT_EQ(to_text(report.decision.best->configuration), "X=10 Y=2");
  EXPECT_DOUBLE_EQ(report.decision.best->energy->joules, 1e-3);
  EXPECT_DOUBLE_EQ(report.decision.default_configuration->energy->joules, 2e-3);
  EXPECT_TRUE(report.decision.ties.empty());
  EXPECT_EQ(to_text(tune(Objective::time).decision.best->configuration), "X=11 Y=2");
}

TEST_F(EnergyChoice, EnergyTimesDelayWeighsBoth) {
  EXPECT_EQ(to_text(tune(Objective::edp).decision.best->configuration), "X=10 Y=2");
}

TEST_F(EnergyChoice, TheParetoFrontHasWhatNothingBeatsInBoth) {
  const std::vector<Tuned> front = tune(Objective::energy).decision.front;
  std::vector<std::string> texts;
  for (const Tuned& one : front) texts.push_back(to_text(one.configuration));
  EXPECT_THAT(texts, ::testing::ElementsAre("X=11 Y=2", "X=10 Y=2"));
}

TEST_F(EnergyChoice, ADeviceWithoutACounterIsRefusedByItsName) {
  FakeDevice without(thrifty);
  TuningRequest request = request_for(target_, {64});
  request.policy.objective = Objective::energy;
  try {
    autotune::tune(target_, without, nullptr, request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "fake (fake) has no energy counter that can be read: use --objective time");
  }
  EXPECT_EQ(without.opened(), 0);
}

TEST_F(EnergyChoice, ResultsAreKeptApartFromThoseByTime) {
  Policy policy;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph");
  policy.objective = Objective::edp;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph objective=edp");
  policy.context = CallContext::between;
  EXPECT_EQ(key_text(policy), "l2=hot launch=graph objective=edp context=between");
}

}  // namespace
}  // namespace autotune
