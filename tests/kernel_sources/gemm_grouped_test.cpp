// SPDX-License-Identifier: Apache-2.0
// Products of groups on the host device, as gemm16_test.cpp does it.
#include <cstdlib>
#include <random>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::gemm_grouped_test {
namespace {

using testing::named;
using Text = std::string;

const Target& grouped() {
  static const Target target =
      load_manifest(AUTOTUNE_SOURCE_DIR "/kernel_sources/gemm_grouped/gemm_grouped.target.toml");
  return target;
}

Problem groups(std::int64_t count, std::int64_t n, std::int64_t k, std::int64_t rows,
               const NamedValues& settings = {}) {
  return problem_of(grouped(), {{"G", count}, {"N", n}, {"K", k}, {"M", rows}}, settings);
}

NamedValues tile(std::int64_t rows, std::int64_t columns, std::int64_t swap) {
  return {{"ROWS", rows}, {"COLUMNS", columns}, {"SWAP", swap}};
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held) {
  testing::expect_right(grouped(), problem, seed, held);
}

TEST(GemmGrouped, IsRightInBothLayoutsAndOrders) {
  for (const char* const layout : {"NT", "NN"}) {
    const NamedValues settings{{"layout", Text(layout)}};
    expect_right(groups(3, 136, 80, 300, settings), 1, tile(64, 64, 0));
    expect_right(groups(3, 136, 80, 300, settings), 2, tile(128, 96, 0));
    expect_right(groups(3, 136, 80, 300, settings), 3, tile(64, 24, 1));
    expect_right(groups(3, 136, 80, 300, settings), 4, tile(128, 64, 1));
  }
}

// Of an odd number of rows, every third group is empty, and the one behind it has one row.
TEST(GemmGrouped, GroupsMayBeEmptyAndHaveSingleRows) {
  expect_right(groups(7, 72, 144, 201), 5, tile(64, 32, 0));
  expect_right(groups(7, 72, 144, 201), 6, tile(64, 16, 1));
  expect_right(groups(70, 40, 64, 333, named("draw=uniform")), 7, tile(64, 8, 1));
  expect_right(groups(9, 64, 64, 1), 8, tile(64, 8, 1));
}

TEST(GemmGrouped, IsRightInTurns) {
  expect_right(groups(5, 264, 144, 401), 12, testing::with(tile(64, 64, 0), "ALTERNATE=1"));
}

TEST(GemmGrouped, OfEightBitsIsRightInBothWaysToSum) {
  for (const char* const sums : {"promoted", "fast"}) {
    const NamedValues settings{{"dtype", Text("e4m3")}, {"sums", Text(sums)}};
    expect_right(groups(5, 136, 400, 201, settings), 13, tile(64, 64, 0));
    expect_right(groups(5, 136, 400, 201, settings), 14, tile(128, 24, 1));
  }
  expect_right(groups(5, 136, 400, 401, named("dtype=e5m2 output=f16")), 15,
               named("PARTS_AT_A_TIME=2 ALTERNATE=1"));
}

TEST(GemmGrouped, FactorsMayBeOfBlocks) {
  NamedValues settings = named("dtype=e4m3 scales=blocks");
  expect_right(groups(5, 256, 400, 201, settings), 16, tile(64, 96, 0));
  expect_right(groups(5, 128, 528, 202, settings), 17, tile(128, 24, 1));
  settings.push_back({"groups", Text("padded")});
  expect_right(groups(5, 256, 272, 203, settings), 18, named("PARTS_AT_A_TIME=2"));
}

TEST(GemmGrouped, GroupsMayBePadded) {
  const NamedValues padded = named("groups=padded");
  expect_right(groups(3, 136, 80, 300, padded), 19, tile(64, 64, 0));
  expect_right(groups(7, 72, 144, 201, padded), 20, tile(64, 24, 1));
}

TEST(GemmGrouped, OfOneGroupIsAProduct) {
  expect_right(groups(1, 8, 16, 1), 9, tile(64, 8, 1));
  expect_right(groups(1, 200, 336, 130, named("dtype=f16")), 10, tile(128, 128, 0));
}

/// AUTOTUNE_TEST_CONFIGURATIONS says how many.
TEST(GemmGrouped, RandomVariantsAreRight) {
  const char* const many = std::getenv("AUTOTUNE_TEST_CONFIGURATIONS");
  std::mt19937 random(20);
  const auto up_to = [&](std::int64_t most) {
    return static_cast<std::int64_t>(random()) % most + 1;
  };
  for (int i = 0; i < (many != nullptr ? std::atoi(many) : 8); ++i) {
    const bool is_fp8 = i % 2 == 1, is_other = random() % 2;
    const NamedValues settings{{"dtype", Text(is_fp8     ? is_other ? "e5m2" : "e4m3"
                                              : is_other ? "f16"
                                                         : "bf16")},
                               {"layout", Text(is_fp8 || random() % 2 ? "NT" : "NN")},
                               {"sums", Text(is_fp8 && random() % 2 ? "fast" : "promoted")},
                               {"draw", Text(random() % 2 ? "lognormal" : "zipf")},
                               {"groups", Text(random() % 4 != 0 ? "packed" : "padded")}};
    const Problem problem = groups(up_to(40), 8 * up_to(30), 16 * up_to(20), up_to(400), settings);
    expect_right(problem, random(), named("MIN_BLOCKS=1"));
  }
}

/// The verdict on a kernel in whose source `text` was replaced.
Outcome spoilt(const Text& text, const Text& by, const NamedValues& settings = {}) {
  return testing::verdict_of(grouped(), groups(7, 128, 144, 201, settings), 11, tile(64, 32, 0),
                             testing::spoilt(text, by))
      .outcome;
}

TEST(GemmGrouped, RowsOfOtherGroupsAndAMissingSliceAreSeen) {
  EXPECT_EQ(spoilt("D, G, M, N, K", "D, G - 1, M, N, K"), Outcome::wrong);
  EXPECT_EQ(spoilt("D, G, M, N, K", "D, G, M, N, K - 64"), Outcome::wrong);
  const NamedValues blocks = named("dtype=e4m3 scales=blocks");
  EXPECT_EQ(spoilt("{b_map, {}, scale_b}", "{b_map, {}, scale_b + 4}", blocks), Outcome::wrong);
  EXPECT_EQ(spoilt("{a_map, {}, scale_a}", "{a_map, {}, scale_a + 1}", blocks), Outcome::wrong);
}

TEST(GemmGrouped, RefusesWhatItDoesNotHave) {
  const auto why = [](const NamedValues& settings, const DeviceInfo& gpu) -> std::string {
    return thrown_by([&] { (void)space_of(grouped(), groups(4, 64, 64, 64, settings), gpu); });
  };
  const DeviceInfo hopper = testing::small_hopper();
  EXPECT_EQ(why({}, hopper), "nothing was thrown");
  EXPECT_THAT(why({}, testing::small_gpu()), ::testing::HasSubstr("groups need wgmma"));
  EXPECT_THAT(why(named("sums=fast"), hopper), ::testing::HasSubstr("a choice for e4m3"));
  EXPECT_THAT(why(named("dtype=e4m3 layout=NN"), hopper),
              ::testing::HasSubstr("e4m3 and e5m2 have the layout NT"));
  EXPECT_THAT(why(named("output=f16"), hopper), ::testing::HasSubstr("have their own"));
  EXPECT_THAT(why(named("scales=rows"), hopper), ::testing::HasSubstr("other types have none"));
  EXPECT_THAT(why(named("dtype=e4m3 scales=blocks"), hopper),
              ::testing::HasSubstr("an N that is a multiple of 128"));
}

}  // namespace
}  // namespace autotune::gemm_grouped_test
