// SPDX-License-Identifier: Apache-2.0
// Buffers with gaps between their lines: what is filled, compared and left alone.
#include <gmock/gmock.h>

#include "tests/tuner/host/kernel_case.hpp"
#include "tuner/measure/gaps.hpp"
#include "tuner/text/format.hpp"

namespace autotune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// y = 2 x of three products of 4 rows of 5, of which lines of x are 7 apart and those of y 6. All
/// products share x.
struct Doubled {
  std::string body = "y[at_y] = 2 * x[at_x];";
  Role role = Role::output;
  std::string reference = "y[at_y] = 2.0 * x[at_x];";

  static std::string kernel(const std::string& name, const char* type, const std::string& body) {
    return format(
        "extern \"C\" __global__ void {}(float* x, {}* y) {{\n"
        "  for (int b = 0; b < 3; ++b)\n    for (int i = 0; i < 4; ++i)\n"
        "      for (int j = 0; j < 5; ++j) {{\n"
        "        const int at_x = 7 * i + j, at_y = 30 * b + 6 * i + j;\n        {}\n      "
        "}}\n}}\n",
        name, type, body);
  }
  static SourceUnit unit(const std::string& name, const std::string& text) {
    SourceUnit unit;
    unit.name = name + ".cu";
    unit.text = text;
    unit.entries = {name};
    return unit;
  }
  static LaunchPlan plan(const std::string& name) {
    return {{}, {{name, {}, {}, {}, 0, {BufferRef{0}, BufferRef{1}}}}};
  }

  Workload workload() const {
    Workload workload;
    workload.problem = "doubled";
    BufferSpec x{"x", ElementType::f32, 26, Role::input}, y{"y", ElementType::f32, 83, role};
    x.dims = y.dims = {5, 4, 3};
    x.strides = {7, 0};
    y.strides = {6, 30};
    y.tolerance = 1;
    x.shift = 4;
    workload.buffers = {x, y};
    const char* const type = role == Role::output ? "double" : "float";
    workload.reference_source = unit("reference", kernel("reference", type, reference));
    workload.reference = plan("reference");
    workload.float64_outputs = true;
    return workload;
  }

  Verdict verdict() const {
    const auto device = make_host_device(test_cache());
    const CompiledKernel compiled =
        device->compile(unit("doubled", kernel("doubled", "float", body)));
    EXPECT_EQ(compiled.outcome, Outcome::ok) << compiled.log;
    const auto bench = device->open(workload());
    const auto candidate = bench->load(compiled, plan("doubled"));
    Verdict verdict = candidate->verify(3);
    if (verdict.outcome == Outcome::ok) candidate->time(2, L2State::hot);
    return verdict;
  }
  void expect_wrong(const std::string& what) const {
    const Verdict verdict = this->verdict();
    EXPECT_EQ(verdict.outcome, Outcome::wrong);
    EXPECT_THAT(verdict.message, HasSubstr(what));
  }
};

TEST(GapsOnHost, ARightKernelPasses) {
  const Verdict verdict = Doubled{}.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  EXPECT_TRUE(verdict.repeats);
}

TEST(GapsOnHost, AnInoutKeepsItsGaps) {
  Doubled added{.body = "y[at_y] += x[at_x];", .role = Role::inout};
  added.reference = added.body;
  const Verdict verdict = added.verdict();
  EXPECT_EQ(verdict.outcome, Outcome::ok) << verdict.message;
  added.body += " y[5] = 0;";
  added.expect_wrong("wrote y[5], which is between the lines of y (dims 5, 4, 3, strides 6, 30)");
}

TEST(GapsOnHost, AWrongElementIsNamedByItsPlace) {
  Doubled wrong;
  wrong.body = "y[at_y] = (b == 1 && i == 2 && j == 3 ? 3 : 2) * x[at_x];";
  wrong.expect_wrong("y[45] is ");
  wrong.expect_wrong("1 of 60 elements is wrong");
}

TEST(GapsOnHost, AnElementThatIsNotWrittenIsFoundOut) {
  Doubled wrong;
  wrong.body = "if (b < 2) y[at_y] = 2 * x[at_x];";
  wrong.expect_wrong("y[60] was not written");
}

TEST(GapsOnHost, WhatIsWrittenBetweenLinesIsFoundOut) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x]; if (b < 2) y[at_y + 1] = 2 * x[at_x];";
  wrong.expect_wrong("wrote y[5], which is between the lines of y");
}

TEST(GapsOnHost, WhatIsReadBetweenLinesIsNoNumber) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x] + 0 * x[7 * i + 5];";
  wrong.expect_wrong("y[0] was not written, or comes from memory that nobody wrote");
}

TEST(GapsOnHost, AChangedInputIsFoundOut) {
  Doubled wrong;
  wrong.body = "y[at_y] = 2 * x[at_x]; x[6] = 1;";
  wrong.expect_wrong("wrote x[6], which is between the lines of x");
  wrong.body = "y[at_y] = 2 * x[at_x]; if (b == 2) x[at_x] += 1;";
  wrong.expect_wrong("the input x was changed: x[0] was");
}

TEST(GapsOnHost, AReferenceThatWritesBetweenLinesIsAnError) {
  Doubled wrong;
  wrong.reference = "y[at_y] = 2.0 * x[at_x]; y[5] = 1;";
  EXPECT_THAT([&] { wrong.verdict(); },
              testing::ThrowsMessage<Error>(HasSubstr("wrote y[5], which is between the lines")));
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
