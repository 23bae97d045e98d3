// SPDX-License-Identifier: Apache-2.0
#include "tuner/runtime/past_models.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "tuner/model/gpu_specs.hpp"
#include "tuner/records/records.hpp"

namespace autotune {
namespace {

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
  PastModels models() { return PastModels({target_, ones_, device_, program_}, times_); }

  const Target target_ = vector_add();
  const DeviceInfo device_ = device_info(find_gpu("h200"));
  const Problem ones_ = problem_of(target_, {{"N", 1}}, {});
  const TargetProgram program_{target_, ones_, device_, SizeBinding::given};
  const std::vector<std::int64_t> sizes_{1 << 24};
  db::PastTimes times_;
};

TEST_F(PastModelsTest, TheErrorIsMeasuredLessPredicted) {
  PastModels models = this->models();
  ASSERT_TRUE(models.has_model());
  const db::PastProblem& here = times_.problems[0];
  const double predicted = models.predicted({1}, sizes_).value();
  EXPECT_DOUBLE_EQ(models.error(here, here.good[0]).value(), std::log(1e-3) - predicted);
}

TEST_F(PastModelsTest, EachDeviceIsPredictedByItsOwnModel) {
  PastModels models = this->models();
  EXPECT_EQ(models.same_device(), (std::vector{true, false}));
  const db::PastProblem &here = times_.problems[0], &there = times_.problems[1];
  EXPECT_LT(models.error(there, there.good[0]).value(), models.error(here, here.good[0]).value());
  EXPECT_GT(models.ideal(there), models.ideal(here)) << "it has less memory bandwidth";
  EXPECT_DOUBLE_EQ(models.ideal(here), models.ideal(sizes_));
}

TEST_F(PastModelsTest, ATimeThatWasNotMeasuredHasNoError) {
  PastModels models = this->models();
  db::PastProblem& problem = times_.problems[0];
  problem.good = {
      {"BLOCK=256", 0, "measured"}, {"BLOCK=256", 1e6, "predicted"}, {"BLOCK=7", 1e6, "measured"}};
  for (const db::PastTime& time : problem.good) EXPECT_FALSE(models.error(problem, time));
}

TEST_F(PastModelsTest, ATargetWithoutAModelPredictsNothing) {
  Target broken = vector_add();
  broken.model = {{"steps", Expression::parse("DEPTH")}};  // bound nowhere
  PastModels models({broken, ones_, device_, program_}, times_);
  EXPECT_FALSE(models.has_model());
  EXPECT_FALSE(models.predicted({1}, sizes_));
  EXPECT_FALSE(models.error(times_.problems[0], times_.problems[0].good[0]));
  EXPECT_TRUE(std::isinf(models.ideal(sizes_)));
}

}  // namespace
}  // namespace autotune
