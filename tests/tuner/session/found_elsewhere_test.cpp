// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/found_elsewhere.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"
#include "tuner/measure/policy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using testing::Macros;

/// Best at X=11, Y=2; a step away costs 1 %.
Fate flat(const Macros& macros) {
  Fate fate = bowl(macros);
  fate.seconds = 0.9e-5 + 0.1 * fate.seconds;
  return fate;
}

/// A database that other devices fill, and what a device named "here" finds in it.
class FoundElsewhereTest : public StoreTest {
 protected:
  FoundElsewhereTest() { here_.mutable_info().name = "here"; }

  void tune_on(const std::string& name, std::int64_t size, FakeDevice::Truth truth = bowl) {
    FakeDevice device(std::move(truth));
    device.mutable_info().name = name;
    autotune::tune(target_, device, &store_, request_for(target_, {size}));
  }
  std::vector<FoundElsewhere> found(std::int64_t size, const Policy& policy = {}) {
    const Problem problem = problem_of(target_, {{"N", size}}, {});
    const SessionRows rows = begin_session(&store_, target_, here_, request_for(target_, {size}));
    return found_elsewhere(store_, target_, problem,
                           {rows.device, rows.kernel, problem.text(), key_text(policy)},
                           here_.info().kind, space());
  }
  ParameterSpace space() const {
    return space_of(target_, problem_of(target_, {{"N", 64}}, {}), here_.info());
  }
  std::string text_of(std::size_t index) const { return to_text(space().at(index)); }

  Target target_ = two_parameters();
  db::TunedStore store_ = open_store();
  FakeDevice here_{bowl};
};

TEST_F(FoundElsewhereTest, IsNothingInAnEmptyDatabaseOrOfThisDevice) {
  EXPECT_TRUE(found(64).empty());
  tune_on("here", 64);
  EXPECT_TRUE(found(64).empty());
}

TEST_F(FoundElsewhereTest, IsTheWinnerAndThenWhatIsAboutAsFast) {
  tune_on("A", 64, flat);
  const auto all = found(64);
  ASSERT_EQ(all.size(), kMostFoundElsewhere);
  EXPECT_EQ(text_of(all[0].index), "X=11 Y=2");
  EXPECT_EQ(all[0].device, "A");
}

TEST_F(FoundElsewhereTest, HasTheWinnersOfAllDevicesFirst) {
  tune_on("A", 64);
  tune_on("B", 64, [](const Macros& macros) -> Fate {
    return {Outcome::ok,
            1e-5 * (1 + std::abs(static_cast<double>(macros.at("X") - 3)) +
                    static_cast<double>(macros.at("Y"))),
            ""};
  });
  const auto all = found(64);
  ASSERT_GE(all.size(), 2u);
  EXPECT_THAT((std::vector{text_of(all[0].index), text_of(all[1].index)}),
              ::testing::UnorderedElementsAre("X=11 Y=2", "X=3 Y=1"));
}

TEST_F(FoundElsewhereTest, IsOfSizesWithinAFactorOfTwoAndOfThePolicy) {
  tune_on("A", 64);
  EXPECT_FALSE(found(128).empty());
  EXPECT_TRUE(found(129).empty());
  Policy cold;
  cold.l2 = L2State::cold;
  EXPECT_TRUE(found(64, cold).empty());
}

TEST_F(FoundElsewhereTest, LeavesOutWhatIsNotValidHere) {
  tune_on("A", 64, flat);
  target_.constraints.push_back(Expression::parse("X != 11"));
  const auto all = found(64);
  ASSERT_FALSE(all.empty());
  for (const FoundElsewhere& one : all)
    EXPECT_THAT(text_of(one.index), ::testing::Not(HasSubstr("X=11")));
}

}  // namespace
}  // namespace autotune
