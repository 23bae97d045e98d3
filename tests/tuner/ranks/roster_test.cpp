// SPDX-License-Identifier: Apache-2.0
#include "tuner/ranks/roster.hpp"

#include <gmock/gmock.h>

#include "tests/tuner/session/toy.hpp"

namespace autotune {
namespace {

using State = KnownRank::State;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RosterTest : public StoreTest {
 protected:
  /// Ranks 1 to 4: all of one group, the last on another host.
  RosterTest() {
    for (KnownRank& rank : ranks_) {
      const int number = ranks_.number_of(rank);
      rank.state = State::idle;
      rank.hello.host = number < 4 ? "n1" : "n2";
      rank.hello.process = "process " + std::to_string(number);
      rank.group = &group_;
    }
  }
  Target target_ = two_parameters();
  db::TunedStore store_ = open_store();
  LeadGroup group_{target_, store_, {}, {}}, other_group_{target_, store_, {}, {}};
  Roster ranks_{5, 7};
};

TEST_F(RosterTest, LabelsNameTheHostWhereItIsKnown) {
  EXPECT_EQ(ranks_.label(ranks_.at(4)), "rank 4 on n2");
  Roster fresh(3, 7);
  EXPECT_EQ(fresh.label(fresh.at(2)), "rank 2");
  EXPECT_EQ(fresh.at(2).heard, 7);
}

TEST_F(RosterTest, ThoseThatLeftAreNotCounted) {
  EXPECT_EQ(ranks_.neighbours(ranks_.at(1)), 3u);
  EXPECT_EQ(ranks_.active(group_), 4u);
  EXPECT_EQ(ranks_.active(other_group_), 0u);
  ranks_.at(2).state = State::gone;
  ranks_.at(3).state = State::lost;
  EXPECT_EQ(ranks_.neighbours(ranks_.at(1)), 1u);
  EXPECT_EQ(ranks_.active(group_), 2u);
  EXPECT_TRUE(ranks_.has(State::gone));
  EXPECT_FALSE(ranks_.has(State::busy));
  EXPECT_TRUE(ranks_.has_anyone());
  for (KnownRank& rank : ranks_) rank.state = State::lost;
  EXPECT_FALSE(ranks_.has_anyone());
}

TEST_F(RosterTest, ProcessesAreToldApartByHostAndState) {
  ranks_.at(2).state = State::gone;
  ranks_.at(3).state = State::lost;
  EXPECT_THAT(ranks_.lost_processes("n1"), ElementsAre("process 3"));
  EXPECT_THAT(ranks_.lost_processes("n2"), IsEmpty());
  EXPECT_THAT(ranks_.present_processes("n1"), ElementsAre("process 1"));
  EXPECT_THAT(ranks_.present_processes("n2"), ElementsAre("process 4"));
}

TEST_F(RosterTest, ADeviceOfTheSameHostHasOneRank) {
  ranks_.at(1).hello.device_text = ranks_.at(2).hello.device_text = "cuda:0";
  ranks_.at(3).hello.device_text = "cuda:1";
  ranks_.at(4).hello.device_text = "cuda:0";
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), &ranks_.at(2));
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(3)), nullptr);
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(4)), nullptr) << "on another host";
  ranks_.at(2).state = State::lost;
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), nullptr);
}

TEST_F(RosterTest, SharedDevicesHaveNoRivals) {
  EXPECT_EQ(ranks_.rival_for_device(ranks_.at(1)), nullptr) << "device_text is empty";
}

}  // namespace
}  // namespace autotune
