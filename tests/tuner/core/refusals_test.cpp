// SPDX-License-Identifier: Apache-2.0
#include "tuner/core/refusals.hpp"

#include "tests/support/matchers.hpp"

namespace autotune {
namespace {

TEST(Refusals, AProductDeclaresNoName) {
  const auto advice = [](const std::string& line) {
    return advice_on({.name = "k.cu", .prelude = "#define WIDTH 4\n"}, "    3 | " + line + "\n");
  };
  EXPECT_THAT(advice("int WIDTH = 3;"), HasSubstr("declares that name"));
  EXPECT_THAT(advice("void f(float *WIDTH);"), HasSubstr("declares that name"));
  EXPECT_THAT(advice("g(reinterpret_cast<uint4*>(buffer + i * WIDTH));"), IsEmpty());
  EXPECT_THAT(advice("int bits = mask & WIDTH;"), IsEmpty());
}

TEST(Refusals, AKernelOfNoNamespaceIsNamedAsItsSourceDoes) {
  EXPECT_EQ(written_name("::scale<4>"), "scale<4>");
  EXPECT_EQ(written_name("::a::scale"), "a::scale");
  EXPECT_EQ(written_name("a::scale"), "a::scale");
}

}  // namespace
}  // namespace autotune
