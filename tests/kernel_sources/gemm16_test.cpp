// SPDX-License-Identifier: Apache-2.0
// gemm in 16 bits on the host device, where lanes exchange what ldmatrix and mma.sync exchange and
// copies happen at the wait: configurations of a GPU, with every type, layout, scale and epilogue.
// TMA, its barriers and wgmma are imitated, too.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"
#include "tests/support/verdicts.hpp"

namespace autotune::gemm16_test {
namespace {

using testing::named;
using testing::wgmma_tile;
using testing::wgmma_tile_by_threads;
using testing::wgmma_tile_shared;
using testing::with;

/// Unless the settings say otherwise.
NamedValues in_f16(NamedValues settings) {
  if (!find_value(settings, "dtype")) settings.push_back({"dtype", std::string("f16")});
  return settings;
}

Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& settings) {
  return problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}}, in_f16(settings));
}

void expect_right(const Problem& problem, std::uint64_t seed, const NamedValues& held = {}) {
  testing::expect_right(testing::gemm(), problem, seed, held);
}

using Text = std::string;

TEST(Gemm16, IsRightInEveryLayoutAlignedAndOdd) {
  std::uint64_t seed = 0;
  for (const char* layout : {"NN", "NT", "TN", "TT"}) {
    expect_right(problem(61, 131, 67, {{"layout", Text(layout)}}), ++seed);
    expect_right(problem(64, 96, 128, {{"layout", Text(layout)}, {"dtype", Text("bf16")}}), ++seed);
  }
}

TEST(Gemm16, IsRightWithEveryScaleEpilogueAndOutput) {
  std::uint64_t seed = 20;
  for (const char* scale : {"none", "alpha", "beta"}) {
    for (const char* epilogue : {"none", "relu", "gelu", "bias", "bias_relu", "bias_gelu"}) {
      if (scale == Text("beta") && Text(epilogue).starts_with("bias")) continue;
      const char* const outputs[] = {"f16", "bf16", "f32"};
      const Text output = outputs[++seed % 3];
      expect_right(problem(40, 72, 50,
                           {{"scale", Text(scale)},
                            {"epilogue", Text(epilogue)},
                            {"output", output},
                            {"dtype", Text(seed % 2 == 0 ? "f16" : "bf16")}}),
                   seed);
    }
  }
}

TEST(Gemm16, IsRightForVectorsAndSingleElements) {
  expect_right(problem(1, 300, 70, {}), 41);
  expect_right(problem(300, 1, 70, named("output=f32")), 42);
  expect_right(problem(1, 1, 1, {}), 43);
}

TEST(Gemm16, IsRightForFewRowsOfABesideABThatIsReadOnce) {
  const auto skinny = [](std::int64_t tiles, std::int64_t groups, std::int64_t parts) {
    return named(format("KERNEL=skinny TILES={} K_GROUPS={} K_PARTS={}", tiles, groups, parts));
  };
  const auto of = [](std::int64_t m, std::int64_t n, std::int64_t k, const NamedValues& settings) {
    return problem(m, n, k, with(settings, "layout=NT"));
  };
  expect_right(of(1, 70, 1032, named("dtype=bf16")), 201, skinny(1, 8, 1));
  expect_right(of(9, 33, 520, named("output=f32 scale=beta")), 202, skinny(2, 2, 1));
  expect_right(of(24, 16, 1000, named("scale=alpha epilogue=bias_gelu")), 203, skinny(1, 2, 1));
  expect_right(of(64, 47, 200, named("epilogue=relu")), 204, skinny(1, 2, 1));
  expect_right(of(130, 9, 264, named("epilogue=bias")), 206, with(skinny(2, 2, 1), "SWAP=1"));
  expect_right_verdict(testing::verdict_of(testing::small_hopper(), testing::gemm(),
                                           of(13, 50, 1160, named("scale=beta")), 205,
                                           skinny(1, 2, 4)));
}

TEST(Gemm16, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  auto right = [seed = 60](std::int64_t m, std::int64_t n, std::int64_t k, const char* settings,
                           const NamedValues& tile) mutable {
    expect_right(problem(m, n, k, named(settings)), ++seed, tile);
  };
  right(136, 200, 136, "layout=NN dtype=bf16 output=bf16", wgmma_tile(64, 80, 0));
  right(72, 136, 72, "layout=NT scale=alpha epilogue=bias", wgmma_tile(64, 48, 1));
  right(61, 131, 67, "layout=TN dtype=bf16 output=f32 scale=alpha epilogue=bias_relu",
        wgmma_tile(64, 64, 0));
  right(40, 67, 130, "layout=TT output=bf16 epilogue=bias_gelu", wgmma_tile(64, 16, 1));
  right(72, 80, 72, "layout=TT scale=beta epilogue=gelu", wgmma_tile(64, 48, 0));
  right(130, 68, 200, "layout=NN dtype=bf16 output=f32 scale=alpha", wgmma_tile(64, 72, 1));
}

TEST(Gemm16, IsRightByWgmmaInPartsOfK) {
  DeviceInfo idle = testing::small_hopper();
  idle.multiprocessors = 16;
  const auto expect_right_in = [&](std::int64_t parts, const Problem& of, std::uint64_t seed,
                                   const NamedValues& tile) {
    const Verdict verdict = testing::verdict_of(idle, testing::gemm(), of, seed,
                                                with(tile, format("K_PARTS={}", parts)));
    EXPECT_EQ(name_of(verdict.outcome), "ok") << of.text() << ": " << verdict.message;
  };
  expect_right_in(2, problem(60, 40, 1100, named("layout=NT output=f32")), 94,
                  wgmma_tile(64, 48, 1));
  expect_right_in(4, problem(60, 70, 520, named("layout=TN epilogue=bias_relu")), 96,
                  wgmma_tile(64, 64, 0));
  expect_right_in(8, problem(60, 130, 1100, named("dtype=bf16 scale=beta")), 97,
                  wgmma_tile(128, 64, 1));
  expect_right_in(2, problem(130, 60, 300, named("output=bf16")), 98,
                  with(wgmma_tile(128, 64, 0), "WARPGROUPS=2"));
}

/// On two multiprocessors a block has several tiles.
TEST(Gemm16, IsRightByWgmmaWhereWarpgroupsTakeTurns) {
  const auto in_turns = [](std::int64_t rows, std::int64_t columns, std::int64_t swap) {
    return with(wgmma_tile(rows, columns, swap), "ALTERNATE=1");
  };
  expect_right(problem(200, 150, 136, {}), 130, in_turns(64, 64, 0));
  expect_right(problem(300, 72, 720, named("layout=TT scale=beta")), 131, in_turns(64, 64, 1));
  expect_right(problem(270, 130, 72, named("layout=NT output=f32")), 132, in_turns(128, 64, 0));
  expect_right(problem(72, 200, 200, named("dtype=bf16")), 133,
               with(wgmma_tile_by_threads(64, 64, 0), "ALTERNATE=1"));
}

TEST(Gemm16, IsRightByWgmmaWithPaddedLines) {
  expect_right(problem(40, 72, 72, named("layout=TN scale=beta")), 95,
               with(wgmma_tile(64, 32, 0), "PAD_LINES=1"));
}

/// Lines are multiples of 8 elements, but not of 16.
TEST(Gemm16, IsRightByWgmmaWhereThreadsCopyInEveryLayout) {
  const auto layout = [](const char* name) { return NamedValues{{"layout", Text(name)}}; };
  std::uint64_t seed = 100;
  for (const char* name : {"NN", "NT", "TN", "TT"}) {
    expect_right(problem(136, 72, 200, layout(name)), ++seed, wgmma_tile_by_threads(128, 48, 0));
    expect_right(problem(72, 200, 136, layout(name)), ++seed, wgmma_tile_by_threads(64, 80, 1));
  }
  expect_right(problem(24, 136, 72, layout("NT")), ++seed, wgmma_tile_by_threads(64, 24, 1));
  expect_right(problem(72, 72, 40, layout("TN")), ++seed, wgmma_tile_by_threads(64, 64, 0));
}

TEST(Gemm16, IsRightByWgmmaWhereThreadsCopyOneOperandAndTmaTheOther) {
  std::uint64_t seed = 120;
  expect_right(problem(72, 72, 200, {}), ++seed, wgmma_tile_by_threads(64, 32, 0, "rows"));
  expect_right(problem(72, 72, 200, {}), ++seed, wgmma_tile_by_threads(64, 40, 1, "rows"));
  expect_right(problem(40, 64, 72, {}), ++seed, wgmma_tile_by_threads(64, 64, 0, "rows"));
  expect_right(problem(40, 136, 67, {}), ++seed, wgmma_tile_by_threads(64, 40, 1, "rows"));
}

TEST(Gemm16, ThreadsCopyOnlyLinesThatAreNoMultiplesOf32Bytes) {
  const auto space = [](std::int64_t k, const char* copied) {
    return space_of(with_fixed(testing::gemm(), wgmma_tile_by_threads(64, 32, 0, copied)),
                    problem(64, 64, k, named("layout=NT")), testing::small_hopper());
  };
  EXPECT_FALSE(space(72, "both").empty());
  EXPECT_TRUE(space(80, "both").empty());
  EXPECT_TRUE(space(128, "rows").empty());
  EXPECT_TRUE(space(67, "rows").empty());
}

/// On two multiprocessors there is one cluster, whose blocks have several tiles. Some of them lie
/// outside of D.
TEST(Gemm16, IsRightByWgmmaWhereBlocksShareCopies) {
  const auto layout = [](const char* name) {
    return NamedValues{{"layout", Text(name)}, {"dtype", Text("bf16")}, {"output", Text("bf16")}};
  };
  std::uint64_t seed = 140;
  for (const char* name : {"NN", "NT", "TN", "TT"}) {
    expect_right(problem(200, 200, 328, layout(name)), ++seed, wgmma_tile_shared(64, 80, 0, 2, 2));
  }
  expect_right(problem(136, 328, 136, layout("NN")), ++seed, wgmma_tile_shared(128, 80, 0, 4, 2));
  expect_right(problem(264, 72, 136, layout("NN")), ++seed, wgmma_tile_shared(64, 64, 0, 2, 4));
  expect_right(problem(264, 328, 136, layout("NT")), ++seed, wgmma_tile_shared(64, 72, 1, 2, 4));
  expect_right(problem(264, 328, 136, layout("TN")), ++seed, wgmma_tile_shared(64, 64, 0, 4, 2));
  expect_right(problem(136, 264, 67, named("scale=beta output=f32")), ++seed,
               wgmma_tile_shared(64, 64, 1, 2, 2));
  expect_right(problem(200, 72, 136, named("epilogue=bias_relu")), ++seed,
               wgmma_tile_shared(64, 72, 1, 2, 2));
}

TEST(Gemm16, BlocksShareOnlyCopiesOfLinesThatAreNoMultiplesOf32Bytes) {
  const auto space = [](std::int64_t k, std::int64_t beside, std::int64_t below) {
    return space_of(with_fixed(testing::gemm(), wgmma_tile_shared(64, 64, 0, beside, below)),
                    problem(256, 256, k, named("layout=NT")), testing::small_hopper());
  };
  EXPECT_FALSE(space(264, 2, 2).empty());
  EXPECT_TRUE(space(272, 2, 2).empty());
  EXPECT_TRUE(space(263, 2, 2).empty());
  EXPECT_TRUE(space(264, 2, 1).empty()) << "one operand alone gains little";
}

TEST(Gemm16, IsRightByWgmmaForFewRows) {
  expect_right(problem(1, 136, 200, named("layout=NT")), 91, wgmma_tile(64, 8, 1));
  expect_right(problem(1, 1, 1, {}), 92, wgmma_tile(64, 16, 0));
  expect_right(problem(300, 8, 72, named("output=f32")), 93, wgmma_tile(128, 16, 0));
}

/// With one tolerance in the unit of bf16 this would pass.
TEST(Gemm16, ASumWithoutItsLastSliceIsWrong) {
  const Problem bf16 = problem(32, 32, 512, named("dtype=bf16 output=bf16"));
  const auto last_slice = testing::spoilt("batch.ldb, K},", "batch.ldb, K - 32},");
  EXPECT_EQ(testing::verdict_of(testing::gemm(), bf16, 7, {}, last_slice).outcome, Outcome::wrong);
}

// Several products, and free sizes away from their defaults.

using Sizes = testing::DistantSizes;

Problem distant(const Sizes& sizes, const char* settings) {
  return testing::distant_problem(sizes, in_f16(named(settings)));
}

TEST(Gemm16Batches, IsRightInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(distant({61, 35, 67, 3}, "layout=NN dtype=bf16 scale=alpha epilogue=bias_relu"), 1);
  expect_right(
      distant({40, 64, 72, 2}, "layout=NT dtype=bf16 output=f32 scale=alpha epilogue=bias"), 2);
  expect_right(distant({24, 33, 50, 5}, "layout=TN epilogue=bias_gelu"), 3);
  expect_right(distant({72, 48, 96, 2}, "layout=TT"), 4);
}

TEST(Gemm16Batches, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(distant({72, 136, 72, 3}, "layout=NN dtype=bf16 scale=alpha epilogue=bias_relu"), 5,
               wgmma_tile(64, 80, 0));
  expect_right(
      distant({40, 72, 136, 2}, "layout=NT dtype=bf16 output=f32 scale=alpha epilogue=bias"), 6,
      wgmma_tile(64, 24, 1));
  expect_right(distant({61, 67, 90, 3}, "layout=TN epilogue=bias_gelu"), 7, wgmma_tile(64, 32, 0));
  expect_right(distant({72, 80, 200, 2}, "layout=TT"), 8, wgmma_tile(64, 48, 1));
}

TEST(Gemm16Batches, IsRightByWgmmaInPartsOfKAndWithPaddedLines) {
  DeviceInfo idle = testing::small_hopper();
  idle.multiprocessors = 8;
  expect_right_verdict(testing::verdict_of(
      idle, testing::gemm(), distant({40, 24, 1100, 3}, "layout=NT dtype=bf16 output=f32"), 9,
      with(wgmma_tile(64, 32, 0), "K_PARTS=2")));
  expect_right(distant({40, 72, 72, 3}, "layout=NN scale=beta"), 10,
               with(wgmma_tile(64, 32, 0), "PAD_LINES=1"));
}

TEST(Gemm16Batches, IsRightByWgmmaWhereThreadsCopy) {
  expect_right(distant({40, 72, 136, 3}, "layout=NN scale=beta"), 14,
               wgmma_tile_by_threads(64, 48, 0));
  expect_right(distant({72, 40, 72, 3}, "layout=TT"), 15, wgmma_tile_by_threads(64, 32, 1));
  expect_right(distant({40, 72, 72, 2}, "layout=NT"), 16, wgmma_tile_by_threads(64, 32, 0, "rows"));
}

TEST(Gemm16Batches, IsRightByWgmmaWhereBlocksShareCopies) {
  expect_right(distant({136, 200, 264, 3}, "layout=NN scale=beta"), 17,
               wgmma_tile_shared(64, 64, 0, 2, 2));
  expect_right(distant({200, 136, 136, 2}, "layout=NT dtype=bf16"), 18,
               wgmma_tile_shared(64, 72, 1, 2, 2));
}

TEST(Gemm16Batches, AProductOfTheFirstMatrixIsWrong) {
  const Problem two = distant({32, 32, 64, 2}, "layout=NN");
  const auto first = testing::spoilt("m * K,", "0,");
  EXPECT_EQ(testing::verdict_of(testing::gemm(), two, 13, {}, first).outcome, Outcome::wrong);
}

const Sizes kOdd{37, 41, 29, 3, 43, 47, 44, 45, 1700, 2001, 1801, 1901};
const Sizes kAligned{72, 48, 88, 2, 96, 96, 48, 56, 9600, 9616, 3504, 4096};

TEST(Gemm16Distances, IsRightInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(distant(kOdd, "layout=NN dtype=bf16 scale=alpha epilogue=bias_relu"), 1);
  expect_right(distant(kAligned, "layout=NT dtype=bf16 output=f32 scale=alpha epilogue=bias"), 2);
  expect_right(distant(kOdd, "layout=TN epilogue=bias_gelu"), 3);
  expect_right(distant(kAligned, "layout=TT"), 4);
}

TEST(Gemm16Distances, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  expect_right(distant(kAligned, "layout=NN dtype=bf16 scale=alpha epilogue=bias_relu"), 5,
               wgmma_tile(64, 48, 0));
  expect_right(distant(kOdd, "layout=NT dtype=bf16 output=f32 scale=alpha epilogue=bias"), 6,
               wgmma_tile(64, 24, 1));
  expect_right(distant(kAligned, "layout=TN epilogue=bias_gelu"), 7, wgmma_tile(64, 32, 0));
  expect_right(distant(kOdd, "layout=TT"), 8, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightByWgmmaWhereThreadsCopy) {
  const Sizes kUneven{72, 48, 88, 2, 104, 104, 48, 56, 9600, 9624, 3504, 4096};
  expect_right(distant(kUneven, "layout=NN dtype=bf16 scale=beta"), 13,
               wgmma_tile_by_threads(64, 48, 0));
  expect_right(distant(kUneven, "layout=TT"), 14, wgmma_tile_by_threads(64, 32, 1));
  expect_right(distant(kUneven, "layout=TN"), 15, wgmma_tile_by_threads(64, 32, 0, "rows"));
}

TEST(Gemm16Distances, IsRightByWgmmaWhereBlocksShareCopies) {
  const Sizes kUneven{136, 200, 136, 2, 200, 216, 200, 208, 40000, 44000, 27200, 28800};
  expect_right(distant(kUneven, "layout=NN dtype=bf16 scale=beta"), 16,
               wgmma_tile_shared(64, 64, 0, 2, 2));
  expect_right(distant(kUneven, "layout=TT"), 17, wgmma_tile_shared(64, 64, 1, 2, 2));
}

/// Lines are no multiples of 16 bytes, but their distances are: TMA takes none of them.
TEST(Gemm16Distances, IsRightForLinesThatEndBetweenThoseThatTmaTakes) {
  expect_right(
      distant({69, 45, 83, 2, 88, 48, 45, 48, 6336, 4096, 3105, 3504}, "layout=NN dtype=bf16"), 9,
      wgmma_tile(64, 48, 0));
}

/// Heads of attention lie beside each other in rows.
TEST(Gemm16Distances, IsRightForMatricesThatLieRowBesideRow) {
  expect_right(distant({40, 16, 24, 4, 96, 64, 64, 64, 24, 16, 16, 16}, "layout=NN scale=beta"),
               10);
  expect_right(distant({40, 16, 24, 4, 96, 64, 64, 64, 24, 16, 16, 16}, "layout=NN"), 11,
               wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightWhereAllProductsShareAMatrix) {
  expect_right(distant({40, 24, 24, 3, -1, -1, -1, -1, 0}, "layout=NN"), 18);
  expect_right(distant({40, 24, 20, 3, 20, 24, 24, 24, 0}, "layout=NT"), 19, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, IsRightForAddressesOfLittleAlignment) {
  const Sizes kBytes{72, 48, 88, 1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 4, 2};
  expect_right(distant(kBytes, "layout=NN"), 20);
  expect_right(distant(kBytes, "layout=TN"), 21, wgmma_tile(64, 16, 0));
}

TEST(Gemm16Distances, ResultsThatOverlapAreRefused) {
  const Problem overlapping = distant({8, 8, 8, 2, 8, 8, 8, 8, 64, 64, 64, 63}, "layout=NN");
  EXPECT_THROW(space_of(testing::gemm(), overlapping, testing::small_gpu()), UsageError);
}

}  // namespace
}  // namespace autotune::gemm16_test
