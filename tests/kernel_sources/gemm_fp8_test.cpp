// SPDX-License-Identifier: Apache-2.0
// Products of e4m3 and e5m2 on the host device, as gemm16_test.cpp does it, with the bits that
// wgmma cuts off.
#include <cstdlib>
#include <random>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::gemm_fp8_test {
namespace {

using testing::named;
using Text = std::string;

NamedValues tile(std::int64_t rows, std::int64_t columns, std::int64_t swap,
                 const char* more = "") {
  return testing::with(testing::wgmma_tile(rows, columns, swap, "wgmma_fp8"), more);
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
  expect_right(product(61, 67, 131, named("layout=NN")), 2, tile(64, 32, 1));
  expect_right(product(72, 64, 256, named("layout=TN")), 3, tile(64, 64, 1));
  expect_right(product(61, 40, 67, named("layout=TT")), 4, tile(64, 16, 0));
}

TEST(GemmFp8, IsRightWithEachKindOfScalesSumsAndOutput) {
  const NamedValues rows = named("scales=rows"), fast = named("sums=fast");
  expect_right(product(72, 136, 288, rows), 5, tile(64, 64, 0));
  expect_right(product(33, 71, 288, rows), 6, tile(64, 40, 1));
  expect_right(product(96, 80, 288, fast), 7, tile(64, 40, 1));
  expect_right(product(96, 80, 288, named("scales=none output=f32")), 8, tile(128, 80, 0));
  expect_right(product(48, 88, 160, named("scales=rows output=f16")), 9, tile(64, 24, 1));
}

TEST(GemmFp8, IsRightWithScalesOfBlocks) {
  const NamedValues blocks = named("scales=blocks");
  expect_right(product(73, 200, 400, blocks), 16, tile(64, 64, 0));
  expect_right(product(31, 200, 400, blocks), 17, tile(128, 24, 1));
  expect_right(product(70, 136, 300, named("scales=blocks layout=TN")), 18,
               tile(64, 40, 1, "K_PARTS=1"));
  expect_right(product(24, 60, 2112, blocks), 19, tile(64, 32, 1, "K_PARTS=2"));
}

TEST(GemmFp8, OfE5m2IsRightWithABiasAndAnActivation) {
  expect_right(product(72, 64, 320, named("dtype=e5m2 scales=rows epilogue=bias_gelu")), 10,
               tile(64, 32, 0));
  expect_right(product(40, 64, 320, named("dtype=e5m2 scale=beta")), 11, tile(64, 40, 1));
}

TEST(GemmFp8, IsRightWithTwoPartsAtATime) {
  const char *const pairs = "PARTS_AT_A_TIME=2", *const turns = "PARTS_AT_A_TIME=2 ALTERNATE=1";
  const NamedValues blocks = named("scales=blocks");
  expect_right(product(70, 96, 900, blocks), 20, tile(64, 96, 0, pairs));
  expect_right(product(400, 300, 1152, blocks), 21, tile(128, 96, 0, turns));
  expect_right(product(300, 400, 400, named("scales=rows")), 22, tile(128, 48, 1, turns));
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
                 named("KERNEL=wgmma_fp8"));
  }
}

TEST(GemmFp8, IsRightInPartsOfK) {
  const char* const parts = "K_PARTS=2";
  expect_right(product(24, 60, 2112, named("scales=rows")), 12, tile(64, 32, 1, parts));
  expect_right(product(24, 60, 2112, named("sums=fast")), 13, tile(64, 32, 1, parts));
}

TEST(GemmFp8, IsRightForSingleElements) {
  expect_right(product(1, 1, 1, named("scales=rows output=f32")), 14, tile(64, 8, 1));
}

TEST(GemmFp8, AProductWithoutTheLast32OfKIsWrong) {
  const auto spoil = testing::spoilt("D, K, {}", "D, K - 32, {}");
  for (const char* const sums : {"promoted", "fast"}) {
    const Problem problem = product(64, 64, 1056, {{"sums", Text(sums)}, {"scales", Text("rows")}});
    const Verdict verdict =
        testing::verdict_of(testing::gemm(), problem, 15, tile(64, 64, 0), spoil);
    EXPECT_EQ(verdict.outcome, Outcome::wrong) << sums;
  }
}

TEST(GemmFp8, AnOutputOfE4m3IsScaled) {
  expect_right(product(80, 144, 208, named("output=e4m3 scales=rows")), 30, tile(64, 48, 0));
  expect_right(product(61, 67, 131, named("output=e4m3 epilogue=relu")), 31, tile(64, 16, 0));
  expect_right(product(72, 64, 256, named("output=e4m3 scale=alpha")), 32, tile(64, 40, 1));
  // Of results below 0, it leaves -0.
  expect_right(product(72, 64, 256, named("output=e4m3 epilogue=gelu")), 36, tile(64, 40, 1));
  expect_right(product(24, 64, 2112, named("dtype=e5m2 output=e4m3 sums=fast")), 33,
               tile(64, 32, 1, "K_PARTS=2"));
  expect_right(product(400, 304, 1152, named("output=e4m3")), 34,
               tile(128, 96, 0, "PARTS_AT_A_TIME=2 ALTERNATE=1"));
}

TEST(GemmFp8, AWrongScaleOrLargestMagnitudeOfE4m3IsFound) {
  const Problem problem = product(96, 80, 288, named("output=e4m3 scales=none"));
  const auto with = [&](const Text& was, const Text& is) {
    return testing::verdict_of(testing::gemm(), problem, 35, tile(64, 80, 0),
                               testing::spoilt(was, is));
  };
  const Text end = "copied_bytes, shared);";
  const Text spoilt = end + " __syncthreads(); if (threadIdx.x == 0) *amax *= 1.25f;";
  EXPECT_THAT(with(end, spoilt).message, HasSubstr("amax"));
  EXPECT_THAT(with("{ scale_d, amax", "{ amax, amax").message, HasSubstr("D["));
}

TEST(GemmFp8, RefusesWhatItDoesNotHave) {
  const auto why = [](const NamedValues& settings) -> std::string {
    return thrown_by([&] {
      (void)space_of(testing::gemm(), product(64, 64, 64, settings), testing::small_hopper());
    });
  };
  EXPECT_THAT(why(named("dtype=bf16 sums=fast")),
              HasSubstr("fast sums are a choice for e4m3 and e5m2"));
  EXPECT_THAT(why(named("dtype=f32 scales=rows")), HasSubstr("scales are for e4m3 and e5m2"));
  EXPECT_THAT(why(named("scales=blocks sums=fast")),
              HasSubstr("scales of blocks need promoted sums"));
  EXPECT_THAT(why(named("output=i32")), HasSubstr("leave the setting output out"));
  for (const char* const settings :
       {"dtype=bf16 output=e4m3", "output=e4m3 epilogue=bias", "output=e4m3 scale=beta"}) {
    EXPECT_THAT(why(named(settings)), HasSubstr("an output of e4m3 is for operands in 8 bits"));
  }
}

}  // namespace
}  // namespace autotune::gemm_fp8_test
