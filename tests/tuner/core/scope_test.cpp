// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/expression.hpp"

#include <gmock/gmock.h>

#include "tuner/core/error.hpp"

namespace autotune {
namespace {

TEST(Scope, ALaterBindingHidesAnEarlierAndAnUnknownNameIsNamed) {
  Scope scope;
  scope.bind("BM", 1);
  scope.bind({{"BM", 2}, {"MODE", "fast"}});
  EXPECT_EQ(scope["BM"], 2);
  EXPECT_EQ(scope.evaluate(Expression::parse("MODE == 'fast'")), 1);
  try {
    (void)scope["BMM"];
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no name BMM here (did you mean BM?)");
  }
}

}  // namespace
}  // namespace autotune
