// SPDX-License-Identifier: Apache-2.0
#include "tuner/session/pruned.hpp"

#include <gtest/gtest.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using testing::FakeDevice;
using testing::Fate;
using testing::Macros;

/// X=5 is far slower than the rest; it is pruned, as X=1 comes first.
Fate one_is_slow(const Macros& macros) {
  return {Outcome::ok, macros.at("X") == 5 ? 1e-3 : 1e-5, ""};
}

TEST(Pruned, AreMeasuredToTheEndAndHeldAgainstTheBest) {
  FakeDevice device(one_is_slow);
  ToyRun toy(device);
  toy.search();
  ASSERT_EQ(toy->ledger().trials().at(toy.index(5, 1)).outcome, Outcome::pruned);
  const PruneCheck check = check_pruning(*toy, 1e-5, 3, 1, [] { return false; });
  EXPECT_EQ(check.pruned, 4u) << "for each Y";
  EXPECT_EQ(check.audit.sampled, 3);
  EXPECT_EQ(check.audit.faster, 0);
  EXPECT_DOUBLE_EQ(*check.audit.best->seconds, 1e-3);
}

TEST(Pruned, NoneIsMeasuredOnceItIsToStop) {
  FakeDevice device(one_is_slow);
  ToyRun toy(device);
  toy.search();
  EXPECT_EQ(check_pruning(*toy, 1e-5, 3, 1, [] { return true; }).audit.sampled, 0);
}

}  // namespace
}  // namespace autotune
