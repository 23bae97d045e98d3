// SPDX-License-Identifier: Apache-2.0
// The benchmark's table, means, JSON and plots say what was measured.
#include "bench/gemm/report.hpp"
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "tuner/json/json.hpp"

namespace autotune::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

Measurement exactly(double seconds) { return {seconds, seconds, seconds, 15}; }

Standing standing(double ours, double sgemm, double lt) {
  Standing one;
  one.ours = exactly(ours);
  one.sgemm = exactly(sgemm);
  one.lt = exactly(lt);
  one.lt_candidate = 2;
  one.lt_is_best = lt < sgemm;
  const double ratio = std::min(lt, sgemm) / ours;
  one.ratio = {ratio, ratio - 0.01, ratio + 0.01};
  one.blocks = 15;
  return one;
}

SizeResult result(std::int64_t n, double hot_ratio, double cold_ratio) {
  return {
      {n, n, n},
      {{"ours", "KERNEL=fast BM=16", {"gemm_pack", "gemm_fast"}, {0, 0.1, 2e-7}, {1, 14}, {16, 7}},
       {"cublasSgemm", "", {"sgemm_32x32"}, {0, 0.1, 2e-7}},
       {"cublasLt 1", "algorithm 20", {"lt_kernel"}, {0, 0.1, 2e-7}}},
      standing(10e-6, hot_ratio * 12e-6, hot_ratio * 10e-6),
      standing(20e-6, cold_ratio * 20e-6, cold_ratio * 25e-6),
      standing(11e-6, 22e-6, 33e-6),
      standing(15e-6, 30e-6, 15e-6)};
}

Report report() {
  Report made;
  made.device = "NVIDIA H200";
  made.environment = "driver 580";
  made.ffma_flops = 64e12;
  made.empty_seconds = 0.54e-6;
  made.sizes = {result(128, 2, 1), result(192, 4, 1), result(256, 0.5, 1)};
  made.skipped = {{1037, 1031, 1055}};
  made.failed = {"512: ours is wrong"};
  return made;
}

TEST(Shape, NamesSquaresByOneSize) {
  EXPECT_EQ((Shape{512, 512, 512}).text(), "512");
  EXPECT_EQ((Shape{1037, 1031, 1055}).text(), "1037x1031x1055");
  EXPECT_DOUBLE_EQ((Shape{1, 2, 3}).flops(), 12);
}

TEST(Accuracy, IsWrongByAnElementOrByTheWhole) {
  EXPECT_TRUE((Accuracy{0, 0.5, 3e-7}).is_right());
  EXPECT_FALSE((Accuracy{1, 1.5, 3e-7}).is_right());
  EXPECT_FALSE((Accuracy{0, 0.5, 3e-4}).is_right());  // as TF32 would have it
}

TEST(Groups, MeanIsGeometricOverWhatWasMeasured) {
  const GroupMean by_128 = mean_of(report(), groups()[0]);
  EXPECT_EQ(by_128.count, 2);  // 128 and 256
  EXPECT_NEAR(by_128.hot, 1.0, 1e-12);
  EXPECT_NEAR(mean_of(report(), groups()[1]).hot, std::cbrt(4.0), 1e-12);
  EXPECT_EQ(mean_of(report(), groups()[2]).count, 0);
}

TEST(Table, HasARowASizeThenTheMeansThenWhatIsMissing) {
  const std::string text = table_text(report());
  // 2 x 128^3 FLOP in 10 us are 0.42 TFLOP/s, 0.7 % of 64.
  EXPECT_THAT(text, HasSubstr("           128     10.00     24.00     20.00   2.00 [1.99, 2.01]"));
  EXPECT_THAT(text, HasSubstr("0.42   0.7 %"));
  EXPECT_THAT(
      text,
      HasSubstr("128..1024 by 128, geometric mean of 2: 2.00 between, 1.00 chain, 1.00 alone; 1.00 "
                "chain, cold"));
  EXPECT_THAT(text, Not(HasSubstr("odd shapes")));
  EXPECT_THAT(text, HasSubstr("1037x1031x1055: skipped"));
  EXPECT_THAT(text, HasSubstr("failed: 512: ours is wrong"));
}

TEST(Table, HasARowASizeForTheContexts) {
  const std::string text = table_text(report());
  EXPECT_THAT(text, HasSubstr("           128     11.00     22.00  2.00 [1.99, 2.01]     10.00     "
                              "20.00  2.00 [1.99, 2.01]     15.00     15.00  1.00 [0.99, 1.01]\n"));
}

TEST(Table, HasARowForWhatEachSideDoesByItself) {
  Report made = report();
  EXPECT_THAT(table_text(made), Not(HasSubstr("sustained")));
  made.sizes[0].rested = standing(10e-6, 25e-6, 30e-6);
  made.sizes[0].sustained = standing(20e-6, 44e-6, 50e-6);
  EXPECT_THAT(table_text(made),
              HasSubstr("           128     10.00     25.00  2.50 [2.49, 2.51]    "
                        " 20.00     44.00  2.20 [2.19, 2.21]    0.21\n"));
  const Json json = parse_json(json_text(made), "report");
  EXPECT_NEAR(json["sizes"][0]["sustained"]["ratio"]["median"].get<double>(), 2.2, 1e-9);
  EXPECT_FALSE(json["sizes"][1].contains("rested"));
}

TEST(Launched, SaysWhichEdgesEachSideHas) {
  EXPECT_THAT(launched_text(result(128, 2, 1)),
              HasSubstr("edges of 8 calls: 1 full, 14 programmatic in a chain; 16 full, 7 "
                        "programmatic between others\n"));
}

TEST(Launched, NamesConfigurationAndKernelsOfEachSide) {
  const std::string text = launched_text(result(128, 2, 1));
  EXPECT_THAT(text, HasSubstr("128 ours: KERNEL=fast BM=16: gemm_pack, gemm_fast;"));
  EXPECT_THAT(text, HasSubstr("128 cublasSgemm: sgemm_32x32;"));
  EXPECT_THAT(text, HasSubstr("128 cublasLt 1: algorithm 20: lt_kernel;"));
}

TEST(ReadableName, DropsManglingAndArguments) {
  EXPECT_EQ(readable_name("gemm_fast"), "gemm_fast");
  EXPECT_EQ(readable_name(
                "_ZN7cutlass7Kernel2I42cutlass_80_simt_sgemm_128x32_8x5_nn_align1EEvNT_6ParamsE"),
            "cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>");
}

TEST(Json, HoldsEveryFigureInMicroseconds) {
  const Json json = parse_json(json_text(report()), "report");
  EXPECT_EQ(json["device"], "NVIDIA H200");
  EXPECT_EQ(json["sizes"].size(), 3U);
  EXPECT_NEAR(json["sizes"][0]["hot"]["ours"]["median_us"].get<double>(), 10, 1e-9);
  EXPECT_EQ(json["sizes"][0]["hot"]["cublas_lt_candidate"], "cublasLt 1");
  EXPECT_EQ(json["sizes"][0]["implementations"][0]["kernels"][1], "gemm_fast");
  EXPECT_EQ(json["skipped"][0], "1037x1031x1055");
  EXPECT_NEAR(json["sizes"][0]["between"]["ours"]["median_us"].get<double>(), 11, 1e-9);
  EXPECT_EQ(json["sizes"][0]["implementations"][0]["edges"]["chain"]["programmatic"], 14);
}

TEST(Svg, ShowsRatesAndRatiosOfTheSquareSizes) {
  const std::string svg = svg_text(report());
  EXPECT_THAT(svg, HasSubstr("best of cuBLAS"));
  EXPECT_THAT(svg, HasSubstr("cold L2"));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

TEST(Table, NamesTheSizesWhereCublasWins) {
  EXPECT_THAT(table_text(report()), testing::HasSubstr("cuBLAS wins at 256 (0.50)\n"));
  Report better = report();
  better.sizes.pop_back();
  EXPECT_THAT(table_text(better), testing::HasSubstr("cuBLAS wins at none of these sizes\n"));
}

TEST(Table, ShowsTheShareOfACopyWhereMemoryIsTheLimit) {
  Report made = report();
  made.copy_bytes = 4e12;
  made.sizes.front().shape = {1, 5000, 4000};  // 80 MB: 20 us at that speed
  made.sizes.front().hot.ours.median = 25e-6;
  const std::string table = table_text(made);
  EXPECT_THAT(table, testing::HasSubstr("1x5000x4000: 80.0 % of the 4000 GB/s of a device copy\n"));
  EXPECT_THAT(table, testing::Not(testing::HasSubstr("256: ")));
}

}  // namespace
}  // namespace autotune::bench
