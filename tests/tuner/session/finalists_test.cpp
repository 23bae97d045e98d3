// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/finalists.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using ::testing::HasSubstr;
using testing::Macros;

/// Five of X=1..16 are within 3 % of the fastest, X=3.
Fate close(const Macros& macros) {
  const auto x = static_cast<double>(macros.at("X"));
  return {Outcome::ok, 1e-5 * (1 + std::abs(x - 3) / 100) * (macros.at("Y") == 1 ? 1 : 2), ""};
}

class FinalistsTest : public ::testing::Test {
 protected:
  /// In the order in which they were verified.
  static std::vector<std::string> names_of(const Finalists& finalists, ToyRun& toy) {
    std::vector<std::string> names;
    for (const LoadedFinalist& one : finalists.all()) {
      names.push_back(to_text(toy->space().at(one.index)));
    }
    return names;
  }
  Finalists finalists_of(ToyRun& toy, std::optional<std::size_t> stored = {}) {
    toy.search();
    edge_.emplace(toy->target(), toy->problem(), toy->device());
    return {*toy, *edge_, stored, [&](const std::string& text) { warnings_.push_back(text); }};
  }

  std::optional<EdgeCheck> edge_;
  std::vector<std::string> warnings_;
};

TEST_F(FinalistsTest, AreTheFastestTheDefaultAndTheStoredBest) {
  FakeDevice device(close);
  ToyRun toy(device);
  Finalists finalists = finalists_of(toy, toy.index(9, 1));
  finalists.verify(toy->policy(), {});
  EXPECT_THAT(names_of(finalists, toy),
              ::testing::ElementsAre("X=3 Y=1", "X=9 Y=1", "X=1 Y=1", "X=2 Y=1", "X=4 Y=1",
                                     "X=5 Y=1", "X=6 Y=1"));
  EXPECT_TRUE(finalists.hold_the_fastest());
  const std::vector<Finalist> entries = finalists.entries();
  EXPECT_TRUE(entries[1].is_stored) << "what must be compared comes first";
  EXPECT_TRUE(entries[2].is_default);
  EXPECT_DOUBLE_EQ(entries[0].seconds, 1e-5);
}

TEST_F(FinalistsTest, OneThatFailsIsRefutedWithAWarningAndTheNextMoveUp) {
  bool fails = false;
  FakeDevice device([&](const Macros& macros) -> Fate {
    if (fails && macros.at("X") == 3) return {Outcome::nondeterministic, 0, "C[1] differs"};
    return close(macros);
  });
  ToyRun toy(device);
  Finalists finalists = finalists_of(toy);
  fails = true;
  finalists.verify(toy->policy(), {});
  EXPECT_EQ(toy->ledger().trials().at(toy.index(3, 1)).outcome, Outcome::nondeterministic);
  EXPECT_TRUE(finalists.hold_the_fastest());
  ASSERT_FALSE(warnings_.empty());
  EXPECT_THAT(warnings_[0], HasSubstr("N=64: a finalist is excluded (nondeterministic"));
  EXPECT_THAT(warnings_[0], HasSubstr("X=3 Y=1"));
}

TEST_F(FinalistsTest, OneThatFailedInThePlayoffIsOut) {
  FakeDevice device(close);
  ToyRun toy(device);
  Finalists finalists = finalists_of(toy);
  finalists.verify(toy->policy(), {});
  const std::size_t count = finalists.all().size();
  std::vector<FinalistResult> results(count);
  results[0].outcome = Outcome::timeout;
  results[0].message = "no answer";
  finalists.refute_failed(results);
  EXPECT_EQ(toy->ledger().trials().at(toy.index(3, 1)).outcome, Outcome::timeout);
  finalists.verify(toy->policy(), {});
  EXPECT_EQ(names_of(finalists, toy)[0], "X=1 Y=1");
}

TEST_F(FinalistsTest, ReloadedTheyAreOnANewWorkbench) {
  FakeDevice device(close);
  ToyRun toy(device);
  Finalists finalists = finalists_of(toy);
  finalists.verify(toy->policy(), {});
  const int before = device.opened();
  finalists.reload();
  EXPECT_EQ(device.opened(), before + 1);
  for (const LoadedFinalist& one : finalists.all()) EXPECT_TRUE(one.candidate);
}

}  // namespace
}  // namespace autotune
