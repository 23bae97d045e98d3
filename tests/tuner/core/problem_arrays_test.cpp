// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <limits>

#include "tuner/core/error.hpp"
#include "tuner/core/target_program.hpp"

namespace autotune {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class ProblemArrays : public testing::Test {
 protected:
  ProblemArrays() {
    target_.name = "arrays";
    target_.sizes = {"N"};
  }

  ArgumentSpec& add(const std::string& name, const std::string& type) {
    return target_.arguments.emplace_back(ArgumentSpec{.name = name, .type = type});
  }
  ArgumentSpec& add_buffer(const std::string& length, const std::string& type = "f32") {
    ArgumentSpec& buffer = add("a", type);
    buffer.length = Expression::parse(length);
    return buffer;
  }
  ArgumentSpec& add_scalar(const std::string& value, const std::string& type) {
    ArgumentSpec& scalar = add("s", type);
    scalar.value = Expression::parse(value);
    return scalar;
  }
  TargetProgram program(std::int64_t n) const { return {target_, {{{"N", n}}}, {}}; }
  BufferSpec buffer(std::int64_t n) const { return program(n).buffers().at(0); }
  Scalar scalar(std::int64_t n) const { return program(n).scalars().at(0); }

  Target target_;
};

TEST_F(ProblemArrays, LengthsCountTheMembersOfVectors) {
  add_buffer("N * N").width = 4;
  EXPECT_EQ(buffer(3).length, 36);
  EXPECT_EQ(buffer(3).bytes(), 144);
}

TEST_F(ProblemArrays, AnEmptyBufferIsRefusedForTheSize) {
  add_buffer("N - 8");
  EXPECT_THAT([&] { buffer(8); }, ThrowsMessage<Error>(AllOf(
                                      HasSubstr("a.length: \"N - 8\" is 0, it must be 1 or more"),
                                      HasSubstr("(for N=8)"))));
}

TEST_F(ProblemArrays, ALengthWhoseBytesWouldOverflowIsRefused) {
  add_buffer("N").width = 4;
  const std::int64_t most = (std::int64_t{1} << 48) / 4;
  EXPECT_EQ(buffer(most).length, 4 * most);
  EXPECT_THAT([&] { buffer(most + 1); },
              ThrowsMessage<Error>(HasSubstr("70368744177665 elements are too many")));
  EXPECT_THROW(buffer(std::numeric_limits<std::int64_t>::max()), Error);
}

TEST_F(ProblemArrays, ALengthWithoutAValueSaysWhy) {
  add_buffer("64 / (N - 8)");
  EXPECT_THAT([&] { buffer(8); }, ThrowsMessage<Error>(HasSubstr("a.length")));
}

TEST_F(ProblemArrays, TolerancesAreNumbersFromZero) {
  ArgumentSpec& out = add_buffer("N");
  out.role = Role::output;
  out.tolerance = Expression::parse("N - 4");
  out.absolute = Expression::parse("N - 6");
  EXPECT_EQ(buffer(8).tolerance, 4);
  EXPECT_EQ(buffer(8).absolute, 2);
  EXPECT_THAT([&] { buffer(3); },
              ThrowsMessage<Error>(HasSubstr("a.tolerance: \"N - 4\" is -1, it must be 0")));
  EXPECT_THAT([&] { buffer(5); },
              ThrowsMessage<Error>(HasSubstr("a.absolute: -1 is not an error")));
}

TEST_F(ProblemArrays, ScalarsHaveTheValueOfTheirExpression) {
  add_scalar("2 * N", "i32");
  EXPECT_EQ(scalar(21).integer, 42);
  EXPECT_THAT([&] { scalar(std::int64_t{1} << 30); },
              ThrowsMessage<Error>(HasSubstr(
                  "2147483648 does not fit an int: give it type i64 under \"arguments\"")));
}

TEST_F(ProblemArrays, ScalarsOfOtherTypesNameTheirType) {
  add_scalar("N - 9", "u16");
  EXPECT_EQ(scalar(9).integer, 0);
  EXPECT_THAT([&] { scalar(8); }, ThrowsMessage<Error>(HasSubstr("-1 does not fit u16")));
}

TEST_F(ProblemArrays, AFloatingScalarTakesAWholeExpression) {
  add_scalar("N", "f64");
  EXPECT_EQ(scalar(3).real, 3);
}

TEST_F(ProblemArrays, AnIntegerScalarTakesNoFraction) {
  add("s", "i32").real = 1.5;
  EXPECT_THAT([&] { scalar(1); },
              ThrowsMessage<Error>(HasSubstr("s.value: 1.5 is not a value of an integer type")));
}

}  // namespace
}  // namespace autotune
