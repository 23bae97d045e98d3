// SPDX-License-Identifier: Apache-2.0
// gemm on tensor cores with free sizes away from their defaults, and its epilogues, on the host
// device, as gemm_split_test.cpp does it.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/kernel_sources/strided_gemm.hpp"

namespace autotune {
namespace {

using Text = std::string;

const Target& gemm() {
  static const Target target = testing::shipped("gemm");
  return target;
}

using Sizes = testing::DistantSizes;

Problem problem(const Sizes& given, const NamedValues& settings = {}) {
  return testing::distant_problem(gemm(), given, settings);
}

/// Small tiles of the family.
NamedValues split(const char* a_source) {
  return {{"KERNEL", Text("split")},
          {"K_GROUPS", std::int64_t{1}},
          {"BN", std::int64_t{32}},
          {"A_SOURCE", Text(a_source)}};
}

NamedValues streamed(const char* operand) {
  return {{"KERNEL", Text("streamed")}, {"STREAMED", Text(operand)}};
}

void expect_right(const Problem& problem, const NamedValues& held) {
  testing::expect_right(gemm(), problem, 0, held);
}

TEST(GemmSplitDistances, IsRightInEveryLayoutWithRowsOfAnyLength) {
  expect_right(problem({61, 67, 130, 1, 132, 69, 67, 71}), split("shared"));
  expect_right(problem({70, 50, 200, 1, 200, 204, 53, 52},
                       {{"layout", Text("NT")}, {"scale", Text("beta")}}),
               split("registers"));
  expect_right(problem({130, 36, 64, 1, 133, 40, 36, 36},
                       {{"layout", Text("TN")}, {"scale", Text("alpha")}}),
               split("registers"));
  expect_right(
      problem({128, 64, 68, 1, 128, 72, 64, 64}, {{"layout", Text("TT")}, {"scale", Text("beta")}}),
      split("shared"));
}

TEST(GemmSplitDistances, IsRightWithEveryEpilogue) {
  const Sizes sizes{61, 66, 70, 1, 70, 68, 66, 68};
  for (const char* epilogue : {"relu", "gelu", "bias", "bias_relu", "bias_gelu"}) {
    expect_right(problem(sizes, {{"epilogue", Text(epilogue)}}), split("shared"));
  }
  expect_right(problem(sizes, {{"epilogue", Text("bias_relu")}, {"scale", Text("alpha")}}),
               split("shared"));
  expect_right(problem({61, 66, 70, 1, 70, 68, 69, 68},
                       {{"epilogue", Text("gelu")}, {"scale", Text("beta")}}),
               split("shared"));
}

TEST(GemmSplitDistances, StreamsRowsOfAnyAlignedLength) {
  expect_right(problem({20, 66, 130, 1, 131, 68, 66, 67}, {{"epilogue", Text("bias_relu")}}),
               streamed("b"));
  expect_right(
      problem({70, 20, 64, 1, 72, 70, 21, 22}, {{"layout", Text("TT")}, {"scale", Text("beta")}}),
      streamed("a"));
}

TEST(GemmSplitDistances, IsRightForMatricesAtAnyDistance) {
  const NamedValues beta{{"layout", Text("NT")}, {"scale", Text("beta")}};
  expect_right(problem({37, 41, 29, 3, 43, 47, 44, 45, 1700, 2001, 1801, 1901}, beta),
               split("shared"));
  expect_right(problem({40, 16, 24, 4, 96, 96, 64, 64, 24, 24, 16, 16}, beta), split("registers"));
  expect_right(problem({40, 24, 24, 3, -1, -1, -1, -1, 0}), split("shared"));
  expect_right(problem({20, 33, 24, 2, 24, 40, -1, 36, 500}, {{"epilogue", Text("bias_gelu")}}),
               split("shared"));
}

TEST(GemmSplitDistances, IsRightForAddressesOfLittleAlignment) {
  expect_right(
      problem({72, 48, 88, 1, -1, -1, -1, -1, -1, -1, -1, -1, 4, 8, 4}, {{"layout", Text("NT")}}),
      split("shared"));
  const Problem unaligned = problem({20, 64, 64, 1, -1, -1, -1, -1, -1, -1, -1, -1, 16, 8});
  EXPECT_TRUE(
      space_of(with_fixed(gemm(), streamed("b")), unaligned, testing::small_hopper()).empty())
      << "TMA";
}

TEST(GemmSplitDistances, AreOfEveryPackedConfiguration) {
  const DeviceInfo gpu = testing::small_hopper();
  const Target held = with_fixed(gemm(), {{"KERNEL", Text("split")}});
  const ParameterSpace packed = space_of(held, problem({96, 128, 256}), gpu);
  const ParameterSpace strided =
      space_of(held, problem({96, 128, 256, 1, 261, 131, 128, 137}), gpu);
  ASSERT_FALSE(packed.empty());
  EXPECT_EQ(strided.size(), packed.size());
  for (std::uint64_t i = 0; i < packed.size(); ++i)
    EXPECT_TRUE(strided.find(packed.at(i))) << to_text(packed.at(i));
}

}  // namespace
}  // namespace autotune
