// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "tuner/answer/known_times.hpp"
#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

class KnownTimesTest : public testing::Test {
 protected:
  KnownTimesTest() {
    times_.devices = {device_row(device_)};
    times_.problems.resize(2);
    times_.problems[0].sizes = {1024};
    times_.problems[0].good = {{"BLOCK=256", 10, "measured"}, {"BLOCK=7", 11, "measured"}};
    times_.problems[1].sizes = {2048};
    times_.problems[1].standard = {"BLOCK=128", 30, "measured"};
    times_.problems[1].good.assign(KnownTimes::kOfEach + 1, {"BLOCK=256", 20, "measured"});
  }
  static Target target() {
    Target target;
    target.name = "toy";
    target.sizes = {"N"};
    target.parameters = {{"BLOCK", {128, 256}, {}, false}};
    target.default_configuration = {{"BLOCK", 128}};
    return target;
  }

  const Target target_ = target();
  const DeviceInfo device_ = device_info(find_gpu("h200"));
  const Problem ones_ = problem_of(target_, {{"N", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  db::PastTimes times_;
};

TEST_F(KnownTimesTest, EqualConfigurationsShareANumber) {
  const KnownTimes known({target_, ones_, device_, program_}, times_);
  ASSERT_EQ(known.problems().size(), 2u);
  const KnownProblem &first = known.problems()[0], &second = known.problems()[1];
  EXPECT_EQ(known.count(), 2u);
  EXPECT_EQ(*first.good[0].levels, Levels{1});
  EXPECT_EQ(first.good[0].levels, second.good[0].levels);
  EXPECT_EQ(first.good[0].number, second.good[0].number);
  EXPECT_EQ(known.number_of({1}), first.good[0].number);
  EXPECT_EQ(known.number_of({0}), second.standard->number);
}

TEST_F(KnownTimesTest, WhatTheTargetDoesNotHaveHasNoLevels) {
  const KnownTimes known({target_, ones_, device_, program_}, times_);
  EXPECT_EQ(known.problems()[0].good[1].levels, nullptr);
}

TEST_F(KnownTimesTest, TheFastestOfEachProblemAreKept) {
  const KnownTimes known({target_, ones_, device_, program_}, times_);
  EXPECT_EQ(known.problems()[1].good.size(), KnownTimes::kOfEach);
  EXPECT_EQ(known.problems()[1].good[0].time->ns, 20);
  EXPECT_FALSE(known.problems()[0].standard) << "it was never timed";
}

Target vector_add() {
  Target target;
  target.name = "vector_add";
  target.sizes = {"N"};
  target.parameters = {{"BLOCK", {128, 256}, {}, false}};
  target.kernels = {{.entry = "vector_add",
                     .when = {},
                     .grid = {Expression::parse("ceil_div(N, BLOCK)")},
                     .block = {Expression::parse("BLOCK")},
                     .cluster = {},
                     .dynamic_shared_bytes = {},
                     .arguments = {}}};
  target.flops = Expression::parse("N");
  target.bytes = Expression::parse("12 * N");
  target.default_configuration = {{"BLOCK", 128}};
  return target;
}

const Levels kBlock256{1};

/// Problem 0 is of the target's device, problem 1 of a slower one.
class PastModelsTest : public testing::Test {
 protected:
  PastModelsTest() {
    times_.devices = {device_row(device_), device_row(device_info(find_gpu("l40s")))};
    for (std::size_t device : {0, 1}) {
      db::PastProblem& problem = times_.problems.emplace_back();
      problem.sizes = {1 << 24};
      problem.device = device;
      problem.good = {{"BLOCK=256", 1e6, "measured"}};
    }
  }
  static std::optional<double> error(const PastModels& models, const db::PastProblem& problem) {
    return models.at(problem).error(kBlock256, problem.good[0]);
  }
  PastModels models() const { return PastModels({target_, ones_, device_, program_}, times_); }

  const Target target_ = vector_add();
  const DeviceInfo device_ = device_info(find_gpu("h200"));
  const Problem ones_ = problem_of(target_, {{"N", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  const std::vector<std::int64_t> sizes_{1 << 24};
  db::PastTimes times_;
};

TEST_F(PastModelsTest, TheErrorIsMeasuredLessPredicted) {
  const PastModels models = this->models();
  ASSERT_TRUE(models.has_model());
  const double predicted = models.at(sizes_).time(kBlock256).value();
  EXPECT_DOUBLE_EQ(error(models, times_.problems[0]).value(), std::log(1e-3) - predicted);
}

TEST_F(PastModelsTest, EachDeviceIsPredictedByItsOwnModel) {
  const PastModels models = this->models();
  EXPECT_EQ(models.same_device(), (std::vector{true, false}));
  const db::PastProblem &here = times_.problems[0], &there = times_.problems[1];
  EXPECT_LT(error(models, there).value(), error(models, here).value());
  EXPECT_GT(models.at(there).ideal(), models.at(here).ideal()) << "it has less memory bandwidth";
  EXPECT_DOUBLE_EQ(models.at(here).ideal(), models.at(sizes_).ideal());
}

TEST_F(PastModelsTest, ATimeThatWasNotMeasuredHasNoError) {
  const PastModels models = this->models();
  db::PastProblem& problem = times_.problems[0];
  for (const db::PastTime& time :
       {db::PastTime{"BLOCK=256", 0, "measured"}, {"BLOCK=256", 1e6, "predicted"}}) {
    problem.good = {time};
    EXPECT_FALSE(error(models, problem));
  }
}

TEST_F(PastModelsTest, ATargetWithoutAModelPredictsNothing) {
  Target broken = vector_add();
  broken.model = {{"steps", Expression::parse("DEPTH")}};  // bound nowhere
  const PastModels models({broken, ones_, device_, program_}, times_);
  EXPECT_FALSE(models.has_model());
  EXPECT_FALSE(models.at(sizes_).time(kBlock256));
  EXPECT_FALSE(error(models, times_.problems[0]));
  EXPECT_TRUE(std::isinf(models.at(sizes_).ideal()));
}

}  // namespace
}  // namespace autotune
