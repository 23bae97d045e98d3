// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/source_writer.hpp"

#include <gmock/gmock.h>

#include <limits>

namespace autotune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The defines of a target with the parameter X of this one value.
std::string prelude(const Value& value) {
  Target target;
  target.name = "one";
  target.sizes = {"N"};
  target.parameters = {{.name = "X", .values = {value}, .when = {}}};
  target.default_configuration = {{"X", value}};
  return source_unit(target, problem_of(target, {{"N", 1}}, {}), {{"X", value}}, {}).prelude;
}

TEST(MacroName, IsAnIdentifier) {
  EXPECT_EQ(macro_name("fast"), "FAST");
  EXPECT_EQ(macro_name("a-b c"), "A_B_C");
}

TEST(SourceWriter, IntegersHaveTheTypeThatHoldsThem) {
  EXPECT_THAT(prelude(Value(7)), HasSubstr("#define X 7\n"));
  EXPECT_THAT(prelude(Value(std::int64_t{1} << 31)), HasSubstr("#define X 2147483648LL\n"));
}

TEST(SourceWriter, NegativeNumbersStandInParentheses) {
  EXPECT_THAT(prelude(Value(-7)), HasSubstr("#define X (-7)\n"));
  EXPECT_THAT(prelude(Value(-0.5)), HasSubstr("#define X (-0.5"));
}

TEST(SourceWriter, TheLeastIntegersAreDifferences) {
  // 2147483648 is no int, and 9223372036854775808 no integer at all.
  EXPECT_THAT(prelude(Value(std::int64_t{std::numeric_limits<std::int32_t>::min()})),
              HasSubstr("#define X (-2147483647 - 1)\n"));
  EXPECT_THAT(prelude(Value(std::numeric_limits<std::int64_t>::min())),
              HasSubstr("#define X (-9223372036854775807LL - 1)\n"));
}

TEST(SourceWriter, AWordIsANumberWithAName) {
  const std::string text = prelude(Value("fast"));
  EXPECT_THAT(text, HasSubstr("#define X_FAST 0\n"));
  EXPECT_THAT(text, HasSubstr("#define X X_FAST\n"));
  EXPECT_THAT(text, Not(HasSubstr("\"fast\"")));
}

}  // namespace
}  // namespace autotune
