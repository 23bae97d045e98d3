// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/tuner/answer/shipped_gemm.hpp"
#include "tuner/answer/experience.hpp"
#include "tuner/answer/known_times.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

/// Blocks of BM, which divide M, do N steps each.
Target target_of_experience() {
  Target target;
  target.name = "toy";
  target.sizes = {"M", "N"};
  target.parameters = {{"BM", {16, 32, 64, 128}, {}, false}, {"UNROLL", {1, 2, 4}, {}, false}};
  target.constraints = {Expression::parse("M % BM == 0")};
  target.default_configuration = {{"BM", 16}, {"UNROLL", 1}};
  return target;
}

DeviceInfo gpu_named(const std::string& name = "NVIDIA H200") {
  DeviceInfo info;
  info.name = name;
  info.kind = DeviceKind::cuda;
  info.compute_capability = 90;
  info.multiprocessors = name == "NVIDIA H200" ? 132 : 114;
  return info;
}

class ExperienceTest : public testing::Test {
 protected:
  ExperienceTest() {
    times_.devices = {device_row(gpu_named()), device_row(gpu_named("NVIDIA H100 PCIe"))};
  }

  db::PastProblem& add(std::int64_t m, std::int64_t n, std::vector<db::PastTime> good,
                       std::size_t device = 0) {
    db::PastProblem problem;
    problem.sizes = {m, n};
    problem.device = device;
    problem.good = std::move(good);
    return times_.problems.emplace_back(std::move(problem));
  }
  std::optional<Experience::Choice> choose(std::int64_t m, std::int64_t n) {
    Experience experience({target_, ones_, device_, program_}, times_);
    return experience.choose(std::vector<std::int64_t>{m, n});
  }

  void add_timed(std::int64_t m, std::int64_t n, double baseline_ns, std::size_t device = 0) {
    db::PastProblem& problem = add(m, n, {{"BM=128 UNROLL=4", 100'000, "measured"}}, device);
    problem.baseline = "cublas";
    problem.baseline_ns = baseline_ns;
  }
  std::optional<Experience::Library> known_library(std::int64_t m, std::int64_t n) {
    const Experience experience({target_, ones_, device_, program_}, times_,
                                [this] { return offered_; });
    return experience.library_for(std::vector<std::int64_t>{m, n}, 0);
  }
  /// The one that answers in place of our choice.
  std::optional<Experience::Library> library(std::int64_t m, std::int64_t n) {
    const auto known = known_library(m, n);
    return known && known->answers ? known : std::nullopt;
  }

  std::string offered_;
  const Target target_ = target_of_experience();
  const DeviceInfo device_ = gpu_named();
  const Problem ones_ = problem_of(target_, {{"M", 1}, {"N", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  db::PastTimes times_;
};

TEST_F(ExperienceTest, NeighboursAreTriedWhereNothingIsValid) {
  add(1024, 512, {{"BM=128 UNROLL=4", 1000, "measured"}});
  const auto choice = choose(1040, 512);  // a multiple of 16 alone
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->known.configuration, "BM=16 UNROLL=4");
  EXPECT_EQ(choice->known.provenance, "predicted");
  EXPECT_EQ(choice->known.ns, 0);
  EXPECT_FALSE(choose(1041, 512)) << "nothing at all is valid";
}

TEST_F(ExperienceTest, AnotherDeviceIsFurtherAwayThanThisOne) {
  add(1024, 512, {{"BM=128 UNROLL=4", 1000, "measured"}}, 1);
  EXPECT_FALSE(choose(1024, 512)->same_device);
  add(1024, 540, {{"BM=128 UNROLL=4", 1000, "measured"}});
  EXPECT_TRUE(choose(1024, 512)->same_device);
}

TEST_F(ExperienceTest, BetweenTheSizesOfACoverItsConfigurationsAreChosen) {
  const auto cover = [&](std::int64_t m, const std::string& configuration) {
    db::PastProblem& problem = add(m, 512, {{"BM=128 UNROLL=4", 1000, "measured"}});
    problem.cover = "cover of M=512..2048,N=512";
    problem.pinned = {configuration, 1100, "pinned"};
  };
  cover(512, "BM=32 UNROLL=2");
  cover(2048, "BM=64 UNROLL=2");
  EXPECT_EQ(choose(640, 512)->known.configuration, "BM=32 UNROLL=2") << "the nearer one";
  EXPECT_TRUE(choose(640, 512)->is_covered);
  EXPECT_EQ(choose(1536, 512)->known.configuration, "BM=64 UNROLL=2");
  EXPECT_EQ(choose(1504, 512)->known.configuration, "BM=32 UNROLL=2") << "the other is not valid";
  EXPECT_FALSE(choose(4096, 512)->is_covered) << "beyond it";
  EXPECT_FALSE(choose(1040, 512)->is_covered) << "none of it is valid";
}

/// A target whose time is that of its memory.
TEST(ExpectedSeconds, AreThoseOfNearTimes) {
  Target target = target_of_experience();
  target.kernels.emplace_back();
  target.kernels[0].entry = "toy";
  target.kernels[0].grid = {Expression::parse("M / BM")};
  target.kernels[0].block = {Expression::parse("128")};
  target.flops = Expression::parse("M * N");
  target.bytes = Expression::parse("8 * M * N");
  const DeviceInfo device = gpu_named();
  const Problem ones = problem_of(target, {{"M", 1}, {"N", 1}}, {});
  const TargetProgram program(target, ones, device, SizeBinding::given);
  db::PastTimes times;
  times.devices = {device_row(device)};
  times.problems.emplace_back();
  times.problems[0].sizes = {1024, 4096};
  times.problems[0].good = {{"BM=128 UNROLL=4", 50000, "measured"}};
  times.problems[0].slower = {{"BM=64 UNROLL=4", 900000, "measured"}};
  Experience experience({target, ones, device, program}, times);
  const auto expected = [&](const std::string& configuration, std::int64_t m) {
    return experience.expected_seconds(configuration, std::vector<std::int64_t>{m, 4096});
  };
  EXPECT_NEAR(expected("BM=128 UNROLL=4", 1024), 50e-6, 1e-9);
  EXPECT_GT(expected("BM=128 UNROLL=4", 2048), 50.5e-6);
  EXPECT_GT(expected("BM=128 UNROLL=2", 1024), 70e-6) << "nobody timed it";
  EXPECT_NEAR(expected("BM=64 UNROLL=4", 1024), 900e-6, 1e-9) << "it was timed, and lost";
  EXPECT_GT(expected("BM=64 UNROLL=4", 1088), 800e-6) << "and is no better near by";
  EXPECT_LT(expected("BM=64 UNROLL=4", 16384), 2000e-6) << "far away, its loss says little";
  EXPECT_EQ(expected("BM=128 UNROLL=4", 1025), 0) << "it is not valid";
  EXPECT_EQ(expected("BM=banana", 1024), 0);
}

TEST_F(ExperienceTest, WithoutEvidenceTheLibraryAnswers) {
  EXPECT_FALSE(library(1024, 540)) << "there is none";
  offered_ = "vendor";
  ASSERT_TRUE(library(1024, 540));
  EXPECT_EQ(library(1024, 540)->plugin, "vendor");
  EXPECT_EQ(library(1024, 540)->seconds, 0);
  add_timed(1024, 512, 200'000);
  ASSERT_TRUE(library(1024, 540)) << "one time is no evidence";
  EXPECT_EQ(library(1024, 540)->plugin, "cublas");
  EXPECT_NEAR(library(1024, 540)->seconds, 200e-6, 1e-9);
}

TEST_F(ExperienceTest, OursAnswersWhereItWasSurelyFasterAtNearSizes) {
  for (std::int64_t n = 256; n < 1024; n += 16) add_timed(1024, n, 200'000);
  EXPECT_FALSE(library(1024, 540));
  EXPECT_TRUE(library(16384, 65536)) << "nothing is known there";
  for (db::PastProblem& problem : times_.problems) problem.baseline_ns = 80'000;
  EXPECT_TRUE(library(1024, 540)) << "it was slower";
}

TEST_F(ExperienceTest, WhereExpectationsWereOftenWrongALeadMustBeLarger) {
  for (std::int64_t n = 256; n < 1024; n += 16) {
    add_timed(1024, n, n % 32 == 0 ? 70'000 : 300'000);
  }
  EXPECT_TRUE(library(1024, 540)) << "on average, ours takes two thirds";
}

TEST_F(ExperienceTest, TheLibrarysTimeOfVectorsCountsForVectors) {
  add_timed(1024, 1, 50'000);
  add_timed(1024, 8, 400'000);
  EXPECT_NEAR(library(2048, 1)->seconds, 50e-6, 1e-6);
  EXPECT_GT(library(1024, 2)->seconds, 300e-6) << "of a product of matrices";
}

TEST(LineAlignment, IsThatOfTheWorstLine) {
  const ShippedGemm nt("h100", {{"dtype", Value("bf16")}, {"layout", Value("NT")}});
  const auto alignment = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return nt.sized().line_alignment(std::vector<std::int64_t>{m, n, k, 1});
  };
  EXPECT_EQ(alignment(3, 64, 64), SizedTarget::kAligned) << "no line has M elements";
  EXPECT_EQ(alignment(64, 64, 4096), SizedTarget::kAligned);
  EXPECT_EQ(alignment(64, 1028, 64), 2);
  EXPECT_EQ(alignment(64, 64, 65), 0);
}

/// What a program saw of cuBLAS' own choice on an H100: `served_bench 71 200 25 KIND` (driver
/// 580.159.04, CUDA 13.0), 200 random shapes of a kind, of which half have multiples of 8 and few
/// are shipped. Where alignment does not count, aligned products in bf16 are expected to take 1.7
/// times as long as they do, and others too little.
TEST(LibraryTime, IsExpectedWellWhereItWasNotTimed) {
  const std::map<std::string, NamedValues> kinds{
      {"bf16-NT", {{"dtype", Value("bf16")}, {"layout", Value("NT")}}},
      {"bf16-NN", {{"dtype", Value("bf16")}}},
      {"f32-NT", {{"layout", Value("NT")}}}};
  for (const auto& [kind, settings] : kinds) {
    const ShippedGemm gemm("h100", settings);
    const Experience experience = gemm.experience(gemm.times());
    std::ifstream file(AUTOTUNE_SOURCE_DIR "/tests/tuner/answer/recorded/cublas_h100.txt");
    std::vector<double> aligned, others;  // logarithms of the measured time over the expected one
    for (std::string name, m, n, k, us; file >> name >> m >> n >> k >> us;) {
      if (name != kind) continue;
      const std::vector<std::int64_t> sizes{std::stoll(m), std::stoll(n), std::stoll(k), 1};
      const auto library = experience.library_for(sizes, 0);
      ASSERT_TRUE(library) << kind;
      if (std::ranges::min(std::span(sizes).first(3)) == 1 || library->seconds == 0) continue;
      const bool is_aligned = gemm.sized().line_alignment(sizes) == SizedTarget::kAligned;
      (is_aligned ? aligned : others).push_back(std::log(std::stod(us) * 1e-6 / library->seconds));
    }
    for (std::vector<double>* errors : {&aligned, &others}) {
      ASSERT_GT(errors->size(), 60u) << kind;
      std::ranges::sort(*errors);
      const auto at = [&](std::size_t percent) {
        return (*errors)[errors->size() * percent / 100];
      };
      EXPECT_NEAR(at(50), 0, 0.15) << kind;
      EXPECT_GT(at(25), -0.3) << kind;
      EXPECT_LT(at(75), errors == &aligned && kind != "f32-NT" ? 0.25 : 0.7) << kind;
    }
  }
}

/// cuBLAS takes up to nine times as long in 16 bits where lines are not aligned, and in f32 it does
/// not. Of 8x2900x2949 in f32 NT, it was expected to take 41 us from one odd shape three doublings
/// away, and took 23 us on an H100; aligned shapes are near.
TEST(LibraryTime, OfOtherAlignmentsCountsWhereTheseTakeAsLong) {
  const auto seconds = [](const char* type, const std::vector<std::int64_t>& sizes) {
    const ShippedGemm gemm("h100", {{"dtype", Value(type)}, {"layout", Value("NT")}});
    return gemm.experience(gemm.times()).library_for(sizes, 0)->seconds;
  };
  EXPECT_LT(seconds("f32", {8, 2900, 2949, 1}), 32e-6);
  EXPECT_LT(seconds("f32", {1024, 1024, 1023, 1}), 1.3 * seconds("f32", {1024, 1024, 1024, 1}));
  EXPECT_GT(seconds("bf16", {1024, 1024, 1023, 1}), 1.5 * seconds("bf16", {1024, 1024, 1024, 1}));
}

TEST_F(ExperienceTest, TheLibraryOfAnotherDeviceSaysNothingWithoutAModel) {
  add_timed(1024, 512, 500, 1);
  EXPECT_EQ(library(1024, 540)->seconds, 0);
}

}  // namespace
}  // namespace autotune
