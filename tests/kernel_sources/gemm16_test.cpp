// SPDX-License-Identifier: Apache-2.0
// gemm in 16 bits on the host device, where lanes exchange what ldmatrix and mma.sync exchange and
// copies happen at the wait: configurations of a GPU, with every type, layout, scale and epilogue.
// TMA, its barriers and wgmma are imitated, too.
#include <gtest/gtest.h>

#include "tests/kernel_sources/gpu_kernels_on_the_host.hpp"

namespace autotune::gemm16_test {
namespace {

/// In f16, unless the settings say otherwise.
Problem problem(std::int64_t m, std::int64_t n, std::int64_t k, NamedValues settings) {
  if (!find_value(settings, "dtype")) settings.push_back({"dtype", std::string("f16")});
  return problem_of(testing::gemm(), {{"M", m}, {"N", n}, {"K", k}}, settings);
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
  expect_right(problem(300, 1, 70, {{"output", Text("f32")}}), 42);
  expect_right(problem(1, 1, 1, {}), 43);
}

TEST(Gemm16, IsRightForFewRowsOfABesideABThatIsReadOnce) {
  const auto skinny = [](std::int64_t tiles, std::int64_t groups, std::int64_t parts) {
    return NamedValues{
        {"KERNEL", Text("skinny")}, {"TILES", tiles}, {"K_GROUPS", groups}, {"K_PARTS", parts}};
  };
  const auto of = [](std::int64_t m, std::int64_t n, std::int64_t k, NamedValues settings) {
    settings.push_back({"layout", Text("NT")});
    return problem(m, n, k, settings);
  };
  expect_right(of(1, 70, 1032, {{"dtype", Text("bf16")}}), 201, skinny(1, 8, 1));
  expect_right(of(9, 33, 520, {{"output", Text("f32")}, {"scale", Text("beta")}}), 202,
               skinny(2, 2, 1));
  expect_right(of(24, 16, 1000, {{"scale", Text("alpha")}, {"epilogue", Text("bias_gelu")}}), 203,
               skinny(1, 2, 1));
  expect_right(of(64, 47, 200, {{"epilogue", Text("relu")}}), 204, skinny(1, 2, 1));
  NamedValues swapped = skinny(2, 2, 1);
  swapped.push_back({"SWAP", std::int64_t{1}});
  expect_right(of(130, 9, 264, {{"epilogue", Text("bias")}}), 206, swapped);
  const Verdict verdict =
      testing::verdict_of(testing::small_hopper(), testing::gemm(),
                          of(13, 50, 1160, {{"scale", Text("beta")}}), 205, skinny(1, 2, 4));
  EXPECT_EQ(name_of(verdict.outcome), "ok") << verdict.message;
}

NamedValues with(NamedValues held, const char* name, std::int64_t value) {
  held.push_back({name, value});
  return held;
}

TEST(Gemm16, IsRightByWgmmaInEveryLayoutTypeScaleAndEpilogue) {
  const Text bf16 = "bf16", f16 = "f16", f32 = "f32";
  const auto settings = [](Text layout, Text dtype, Text output, Text scale, Text epilogue) {
    return NamedValues{{"layout", layout},
                       {"dtype", dtype},
                       {"output", output},
                       {"scale", scale},
                       {"epilogue", epilogue}};
  };
  expect_right(problem(136, 200, 136, settings("NN", bf16, bf16, "none", "none")), 61,
               testing::wgmma_tile(64, 80, 0));
  expect_right(problem(72, 136, 72, settings("NT", f16, f16, "alpha", "bias")), 62,
               testing::wgmma_tile(64, 48, 1));
  expect_right(problem(61, 131, 67, settings("TN", bf16, f32, "alpha", "bias_relu")), 63,
               testing::wgmma_tile(64, 64, 0));
  expect_right(problem(40, 67, 130, settings("TT", f16, bf16, "none", "bias_gelu")), 64,
               testing::wgmma_tile(64, 16, 1));
  expect_right(problem(72, 80, 72, settings("TT", f16, f16, "beta", "gelu")), 65,
               testing::wgmma_tile(64, 48, 0));
  expect_right(problem(130, 68, 200, settings("NN", bf16, f32, "alpha", "none")), 66,
               testing::wgmma_tile(64, 72, 1));
}

TEST(Gemm16, IsRightByWgmmaInPartsOfK) {
  DeviceInfo idle = testing::small_hopper();
  idle.multiprocessors = 16;
  const auto expect_right_in = [&](std::int64_t parts, const Problem& of, std::uint64_t seed,
                                   const NamedValues& tile) {
    const Verdict verdict =
        testing::verdict_of(idle, testing::gemm(), of, seed, with(tile, "K_PARTS", parts));
    EXPECT_EQ(name_of(verdict.outcome), "ok") << of.text() << ": " << verdict.message;
  };
  expect_right_in(2, problem(60, 40, 1100, {{"layout", Text("NT")}, {"output", Text("f32")}}), 94,
                  testing::wgmma_tile(64, 48, 1));
  expect_right_in(4,
                  problem(60, 70, 520, {{"layout", Text("TN")}, {"epilogue", Text("bias_relu")}}),
                  96, testing::wgmma_tile(64, 64, 0));
  expect_right_in(8, problem(60, 130, 1100, {{"dtype", Text("bf16")}, {"scale", Text("beta")}}), 97,
                  testing::wgmma_tile(128, 64, 1));
  expect_right_in(2, problem(130, 60, 300, {{"output", Text("bf16")}}), 98,
                  with(testing::wgmma_tile(128, 64, 0), "WARPGROUPS", 2));
}

/// On two multiprocessors a block has several tiles.
TEST(Gemm16, IsRightByWgmmaWhereWarpgroupsTakeTurns) {
  const auto in_turns = [](std::int64_t rows, std::int64_t columns, std::int64_t swap) {
    return with(testing::wgmma_tile(rows, columns, swap), "ALTERNATE", 1);
  };
  expect_right(problem(200, 150, 136, {}), 130, in_turns(64, 64, 0));
  expect_right(problem(300, 72, 720, {{"layout", Text("TT")}, {"scale", Text("beta")}}), 131,
               in_turns(64, 64, 1));
  expect_right(problem(270, 130, 72, {{"layout", Text("NT")}, {"output", Text("f32")}}), 132,
               in_turns(128, 64, 0));
  expect_right(problem(72, 200, 200, {{"dtype", Text("bf16")}}), 133,
               with(testing::wgmma_tile_by_threads(64, 64, 0), "ALTERNATE", 1));
}

TEST(Gemm16, IsRightByWgmmaWithPaddedLines) {
  expect_right(problem(40, 72, 72, {{"layout", Text("TN")}, {"scale", Text("beta")}}), 95,
               with(testing::wgmma_tile(64, 32, 0), "PAD_LINES", 1));
}

/// Lines are multiples of 8 elements, but not of 16.
TEST(Gemm16, IsRightByWgmmaWhereThreadsCopyInEveryLayout) {
  using testing::wgmma_tile_by_threads;
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
  using testing::wgmma_tile_by_threads;
  std::uint64_t seed = 120;
  expect_right(problem(72, 72, 200, {}), ++seed, wgmma_tile_by_threads(64, 32, 0, "rows"));
  expect_right(problem(72, 72, 200, {}), ++seed, wgmma_tile_by_threads(64, 40, 1, "rows"));
  expect_right(problem(40, 64, 72, {}), ++seed, wgmma_tile_by_threads(64, 64, 0, "rows"));
  expect_right(problem(40, 136, 67, {}), ++seed, wgmma_tile_by_threads(64, 40, 1, "rows"));
}

TEST(Gemm16, ThreadsCopyOnlyLinesThatAreNoMultiplesOf32Bytes) {
  const auto space = [](std::int64_t k, const char* copied) {
    return space_of(with_fixed(testing::gemm(), testing::wgmma_tile_by_threads(64, 32, 0, copied)),
                    problem(64, 64, k, {{"layout", Text("NT")}}), testing::small_hopper());
  };
  EXPECT_FALSE(space(72, "both").empty());
  EXPECT_TRUE(space(80, "both").empty());
  EXPECT_TRUE(space(128, "rows").empty());
  EXPECT_TRUE(space(67, "rows").empty());
}

/// On two multiprocessors there is one cluster, whose blocks have several tiles. Some of them lie
/// outside of D.
TEST(Gemm16, IsRightByWgmmaWhereBlocksShareCopies) {
  using testing::wgmma_tile_shared;
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
  expect_right(problem(136, 264, 67, {{"scale", Text("beta")}, {"output", Text("f32")}}), ++seed,
               wgmma_tile_shared(64, 64, 1, 2, 2));
  expect_right(problem(200, 72, 136, {{"epilogue", Text("bias_relu")}}), ++seed,
               wgmma_tile_shared(64, 72, 1, 2, 2));
}

TEST(Gemm16, BlocksShareOnlyCopiesOfLinesThatAreNoMultiplesOf32Bytes) {
  const auto space = [](std::int64_t k, std::int64_t beside, std::int64_t below) {
    return space_of(
        with_fixed(testing::gemm(), testing::wgmma_tile_shared(64, 64, 0, beside, below)),
        problem(256, 256, k, {{"layout", Text("NT")}}), testing::small_hopper());
  };
  EXPECT_FALSE(space(264, 2, 2).empty());
  EXPECT_TRUE(space(272, 2, 2).empty());
  EXPECT_TRUE(space(263, 2, 2).empty());
  EXPECT_TRUE(space(264, 2, 1).empty()) << "one operand alone gains little";
}

TEST(Gemm16, IsRightByWgmmaForFewRows) {
  expect_right(problem(1, 136, 200, {{"layout", Text("NT")}}), 91, testing::wgmma_tile(64, 8, 1));
  expect_right(problem(1, 1, 1, {}), 92, testing::wgmma_tile(64, 16, 0));
  expect_right(problem(300, 8, 72, {{"output", Text("f32")}}), 93, testing::wgmma_tile(128, 16, 0));
}

/// With one tolerance in the unit of bf16 this would pass.
TEST(Gemm16, ASumWithoutItsLastSliceIsWrong) {
  const Problem bf16 = problem(32, 32, 512, {{"dtype", Text("bf16")}, {"output", Text("bf16")}});
  const auto spoil = [](std::string& text) {
    const std::string depth = "batch.ldb, K},";
    const std::size_t at = text.find(depth);
    ASSERT_NE(at, std::string::npos);
    text.replace(at, depth.size(), "batch.ldb, K - 32},");
  };
  EXPECT_EQ(testing::verdict_of(testing::gemm(), bf16, 7, {}, spoil).outcome, Outcome::wrong);
}

}  // namespace
}  // namespace autotune::gemm16_test
