// SPDX-License-Identifier: Apache-2.0
// Buffers with gaps between their lines: what is filled, compared and left alone.
#include "tuner/measure/gaps.hpp"

#include <gmock/gmock.h>

#include "tests/support/gaps_case.hpp"
#include "tests/tuner/host/kernel_case.hpp"

namespace autotune {
namespace {

using testing::Doubled;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Verdict verdict_of(const Doubled& doubled) {
  return doubled.verdict(*make_host_device(test_cache()));
}

void expect_wrong(const Doubled& doubled, const std::string& what) {
  const Verdict verdict = verdict_of(doubled);
  EXPECT_EQ(verdict.outcome, Outcome::wrong);
  EXPECT_THAT(verdict.message, HasSubstr(what));
}

TEST(GapsOnHost, ARightKernelPasses) {
  const Verdict verdict = verdict_of(Doubled{});
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  EXPECT_TRUE(verdict.repeats);
}

TEST(GapsOnHost, AnInoutKeepsItsGaps) {
  Doubled added{.body = "y[at_y] += x[at_x];", .role = Role::inout};
  added.reference = added.body;
  const Verdict verdict = verdict_of(added);
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  added.body += " y[5] = 0;";
  expect_wrong(added, "wrote y[5], which is between the lines of y (dims 5, 4, 3, strides 6, 30)");
}

TEST(GapsOnHost, AWrongElementIsNamedByItsPlace) {
  Doubled wrong;
  wrong.body = "y[at_y] = (b == 1 && i == 2 && j == 3 ? 3 : 2) * x[at_x];";
  expect_wrong(wrong, "y[45] is ");
  expect_wrong(wrong, "1 of 60 elements is wrong");
}

TEST(GapsOnHost, AnElementThatIsNotWrittenIsFoundOut) {
  Doubled wrong;
  wrong.body = "if (b < 2) y[at_y] = 2 * x[at_x];";
  expect_wrong(wrong, "y[60] was not written");
}

TEST(GapsOnHost, WhatIsWrittenBetweenLinesIsFoundOut) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x]; if (b < 2) y[at_y + 1] = 2 * x[at_x];";
  expect_wrong(wrong, "wrote y[5], which is between the lines of y");
}

TEST(GapsOnHost, WhatIsReadBetweenLinesIsNoNumber) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x] + 0 * x[7 * i + 5];";
  expect_wrong(wrong, "y[0] was not written, or comes from memory that nobody wrote");
}

TEST(GapsOnHost, AChangedInputIsFoundOut) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x]; x[6] = 1;";
  expect_wrong(wrong, "wrote x[6], which is between the lines of x");
  wrong.body = "y[at_y] = 2 * x[at_x]; if (b == 2) x[at_x] += 1;";
  expect_wrong(wrong, "the input x was changed: x[0] was");
}

TEST(GapsOnHost, AReferenceThatWritesBetweenLinesIsAnError) {
  Doubled wrong;
  wrong.reference = "y[at_y] = 2.0 * x[at_x]; y[5] = 1;";
  EXPECT_THAT([&] { verdict_of(wrong); },
              ::testing::ThrowsMessage<Error>(HasSubstr("wrote y[5], which is between the lines")));
}

TEST(Gaps, ElementsKeepTheirOrder) {
  BufferSpec spec{"x", ElementType::i8, 9};
  spec.dims = {2, 3};
  spec.strides = {3};
  const std::vector<std::byte> elements{std::byte{1}, std::byte{2}, std::byte{3},
                                        std::byte{4}, std::byte{5}, std::byte{6}};
  std::vector<std::byte> bytes(9);
  spread(bytes, spec, elements);
  EXPECT_THAT(bytes,
              ElementsAre(std::byte{1}, std::byte{2}, std::byte{0}, std::byte{3}, std::byte{4},
                          std::byte{0}, std::byte{5}, std::byte{6}, std::byte{0}));
  EXPECT_EQ(gathered(spec, bytes, 1), elements);
  EXPECT_EQ(position_of(spec, 3), 4);
}

}  // namespace
}  // namespace autotune
