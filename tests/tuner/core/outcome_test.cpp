// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/outcome.hpp"

#include <gmock/gmock.h>

#include <set>

namespace autotune {
namespace {

TEST(Outcome, NamesRoundTripAndDiffer) {
  std::set<std::string_view> names;
  for (int i = 0; i < kOutcomes; ++i) {
    const auto each = static_cast<Outcome>(i);
    EXPECT_EQ(outcome(name_of(each)), each);
    names.insert(name_of(each));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kOutcomes));
  EXPECT_EQ(name_of(Outcome::compile_error), "compile_error");
  EXPECT_FALSE(outcome("fine"));
}

}  // namespace
}  // namespace autotune
