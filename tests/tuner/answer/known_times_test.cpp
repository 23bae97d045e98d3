// SPDX-License-Identifier: Apache-2.0
#include "tuner/answer/known_times.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace autotune
