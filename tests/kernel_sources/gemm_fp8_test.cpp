// SPDX-License-Identifier: Apache-2.0
// Products of e4m3 and e5m2 on the host device, as gemm16_test.cpp does it, with the bits that
// wgmma cuts off.
#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tuner/core/error.hpp"

namespace autotune::gemm_fp8_test {
namespace {

using Text = std::string;
using ::testing::HasSubstr;

NamedValues tile(std::int64_t rows, std::int64_t columns, std::int64_t swap,
                 NamedValues more = {}) {
  NamedValues all = testing::wgmma_tile(rows, columns, swap, "wgmma_fp8");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

Problem product(std::int64_t m, std::int64_t n, std::int64_t k, NamedValues settings) {
  if (!find_value(settings, "dtype")) settings.push_back({"dtype", Text("e4m3")});
  if (!find_value(settings, "layout")) settings.push_back({"layout", Text("NT")});
  return problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}}, settings);
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held) {
  testing::expect_right(testing::gemm(), problem, seed, held);
}

TEST(GemmFp8, IsRightInEveryLayoutAlignedAndOdd) {
  expect_right(product(80, 136, 208, {}), 1, tile(64, 48, 0));
  expect_right(product(61, 67, 131, {{"layout", Text("NN")}}), 2, tile(64, 32, 1));
  expect_right(product(72, 64, 256, {{"layout", Text("TN")}}), 3, tile(64, 64, 1));
  expect_right(product(61, 40, 67, {{"layout", Text("TT")}}), 4, tile(64, 16, 0));
}

TEST(GemmFp8, IsRightWithEachKindOfScalesSumsAndOutput) {
  const NamedValues rows{{"scales", Text("rows")}}, fast{{"sums", Text("fast")}};
  expect_right(product(72, 136, 288, rows), 5, tile(64, 64, 0));
  expect_right(product(33, 71, 288, rows), 6, tile(64, 40, 1));
  expect_right(product(96, 80, 288, fast), 7, tile(64, 40, 1));
  expect_right(product(96, 80, 288, {{"scales", Text("none")}, {"output", Text("f32")}}), 8,
               tile(128, 80, 0));
  expect_right(product(48, 88, 160, {{"scales", Text("rows")}, {"output", Text("f16")}}), 9,
               tile(64, 24, 1));
}

TEST(GemmFp8, IsRightWithScalesOfBlocks) {
  const NamedValues blocks{{"scales", Text("blocks")}};
  expect_right(product(73, 200, 400, blocks), 16, tile(64, 64, 0));
  expect_right(product(31, 200, 400, blocks), 17, tile(128, 24, 1));
  expect_right(product(70, 136, 300, {{"scales", Text("blocks")}, {"layout", Text("TN")}}), 18,
               tile(64, 40, 1, {{"K_PARTS", std::int64_t{1}}}));
  expect_right(product(24, 60, 2112, blocks), 19, tile(64, 32, 1, {{"K_PARTS", std::int64_t{2}}}));
}

TEST(GemmFp8, OfE5m2IsRightWithABiasAndAnActivation) {
  expect_right(
      product(72, 64, 320,
              {{"dtype", Text("e5m2")}, {"scales", Text("rows")}, {"epilogue", Text("bias_gelu")}}),
      10, tile(64, 32, 0));
  expect_right(product(40, 64, 320, {{"dtype", Text("e5m2")}, {"scale", Text("beta")}}), 11,
               tile(64, 40, 1));
}

TEST(GemmFp8, IsRightWithTwoPartsAtATime) {
  const NamedValues pairs{{"PARTS_AT_A_TIME", std::int64_t{2}}};
  NamedValues turns = pairs;
  turns.push_back({"ALTERNATE", std::int64_t{1}});
  const NamedValues blocks{{"scales", Text("blocks")}};
  expect_right(product(70, 96, 900, blocks), 20, tile(64, 96, 0, pairs));
  expect_right(product(400, 300, 1152, blocks), 21, tile(128, 96, 0, turns));
  expect_right(product(300, 400, 400, {{"scales", Text("rows")}}), 22, tile(128, 48, 1, turns));
}

/// AUTOTUNE_TEST_CONFIGURATIONS says how many.
TEST(GemmFp8, RandomVariantsAreRight) {
  const char* const many = std::getenv("AUTOTUNE_TEST_CONFIGURATIONS");
  std::mt19937 random(20);
  const auto one_of = [&](std::initializer_list<const char*> all) {
    return Text(all.begin()[random() % all.size()]);
  };
  for (int i = 0; i < (many != nullptr ? std::atoi(many) : 6); ++i) {
    const Text scales = one_of({"none", "tensor", "rows", "blocks"});
    const NamedValues settings{
        {"dtype", one_of({"e4m3", "e5m2"})},
        {"output", one_of({"bf16", "f16", "f32"})},
        {"layout", one_of({"NN", "NT", "NT", "TN", "TT"})},
        {"epilogue", one_of({"none", "relu", "bias_gelu"})},
        {"sums", scales == "blocks" ? Text("promoted") : one_of({"promoted", "fast"})},
        {"scales", scales}};
    const auto size = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random()) % most + 1;
    };
    expect_right(product(size(200), size(200), size(700), settings), random(),
                 {{"KERNEL", Text("wgmma_fp8")}});
  }
}

TEST(GemmFp8, IsRightInPartsOfK) {
  const NamedValues parts{{"K_PARTS", std::int64_t{2}}};
  expect_right(product(24, 60, 2112, {{"scales", Text("rows")}}), 12, tile(64, 32, 1, parts));
  expect_right(product(24, 60, 2112, {{"sums", Text("fast")}}), 13, tile(64, 32, 1, parts));
}

TEST(GemmFp8, IsRightForSingleElements) {
  expect_right(product(1, 1, 1, {{"scales", Text("rows")}, {"output", Text("f32")}}), 14,
               tile(64, 8, 1));
}

TEST(GemmFp8, AProductWithoutTheLast32OfKIsWrong) {
  const auto spoil = [](std::string& text) {
    const Text depth = "D, K, {}";
    const auto at = text.find(depth);
    ASSERT_NE(at, Text::npos);
    text.replace(at, depth.size(), "D, K - 32, {}");
  };
  for (const char* const sums : {"promoted", "fast"}) {
    const Problem problem = product(64, 64, 1056, {{"sums", Text(sums)}, {"scales", Text("rows")}});
    const Verdict verdict =
        testing::verdict_of(testing::gemm(), problem, 15, tile(64, 64, 0), spoil);
    EXPECT_EQ(verdict.outcome, Outcome::wrong) << sums;
  }
}

TEST(GemmFp8, RefusesWhatItDoesNotHave) {
  const auto why = [](const NamedValues& settings) -> std::string {
    try {
      (void)space_of(testing::gemm(), product(64, 64, 64, settings), testing::small_hopper());
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(why({{"dtype", Text("bf16")}, {"sums", Text("fast")}}),
              HasSubstr("fast sums are a choice for e4m3 and e5m2"));
  EXPECT_THAT(why({{"dtype", Text("f32")}, {"scales", Text("rows")}}),
              HasSubstr("scales are for e4m3 and e5m2"));
  EXPECT_THAT(why({{"scales", Text("blocks")}, {"sums", Text("fast")}}),
              HasSubstr("scales of blocks need promoted sums"));
  EXPECT_THAT(why({{"output", Text("i32")}}), HasSubstr("leave the setting output out"));
}

}  // namespace
}  // namespace autotune::gemm_fp8_test
