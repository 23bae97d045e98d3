// SPDX-License-Identifier: Apache-2.0
// Which entries reading the database gives, and in what order.
#include "db/tuned.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "db/problem_text.hpp"
#include "db/store.hpp"
#include "tests/db/sample.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

class Tuned : public testing::Test {
 protected:
  void decide(const std::string& problem, const std::string& created_at = "") {
    sample_.key.problem = problem;
    DecisionRow row = sample_.decision("BM=64", 10000);
    if (!created_at.empty()) row.created_at = created_at;
    store_.add_decision(row);
  }
  std::vector<std::string> problems(const TunedFilter& filter) const {
    std::vector<std::string> found;
    for (const TunedEntry& entry : store_.tuned(filter)) found.push_back(entry.best.key.problem);
    return found;
  }

  TemporaryFolder folder_;
  TunedStore store_{folder_ / "t.db"};
  Sample sample_{store_};
};

TEST_F(Tuned, EntriesAreOrderedByTheLengthOfTheProblemThenByItsText) {
  decide("M=1024 N=8 K=8 dtype=f32");
  decide("M=64 N=8 K=8 dtype=f64");
  decide("M=64 N=8 K=8 dtype=f32");
  EXPECT_THAT(problems({}), ElementsAre("M=64 N=8 K=8 dtype=f32", "M=64 N=8 K=8 dtype=f64",
                                        "M=1024 N=8 K=8 dtype=f32"));
}

TEST_F(Tuned, SizesAreMatchedWholeWhateverTheSettings) {
  decide("M=8 N=8 K=51");
  decide("M=8 N=8 K=51 dtype=f32");
  decide("M=8 N=8 K=512 dtype=f32");
  EXPECT_THAT(problems({.sizes = "M=8 N=8 K=51"}),
              ElementsAre("M=8 N=8 K=51", "M=8 N=8 K=51 dtype=f32"));
  EXPECT_THAT(problems({.problem = "M=8 N=8 K=51"}), ElementsAre("M=8 N=8 K=51"));
  EXPECT_THAT(problems({.sizes = "M=8 N=8 K=5"}), IsEmpty());
}

TEST_F(Tuned, TargetDeviceAndPolicyChoose) {
  decide("M=8 N=8 K=8");
  EXPECT_EQ(problems({.device_name = "NVIDIA H200", .target = "gemm"}).size(), 1u);
  EXPECT_THAT(problems({.device_name = "NVIDIA H20"}), IsEmpty());
  EXPECT_THAT(problems({.target = "conv"}), IsEmpty());
  EXPECT_EQ(problems({.policy = "l2=hot launch=graph"}).size(), 1u);
  EXPECT_THAT(problems({.policy = "l2=hot"}), IsEmpty());
}

TEST_F(Tuned, AnEntryComesWithItsSession) {
  decide("M=8 N=8 K=8");
  EXPECT_EQ(store_.tuned({}).at(0).session.strategy, "guided");
  EXPECT_EQ(store_.tuned({}).at(0).kernel.target, "gemm");
}

TEST_F(Tuned, WhatAComplaintIsMadeOfIsLeftOutAndNamed) {
  decide("M=8 N=8 K=8");
  decide("M=9 N=9 K=9");
  store_.leave_out([](const TunedEntry& entry) {
    return entry.best.key.problem == "M=9 N=9 K=9" ? "it is odd" : "";
  });
  EXPECT_THAT(problems({}), ElementsAre("M=8 N=8 K=8"));
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("it is odd")));
}

TEST_F(Tuned, AProblemWithoutACorrectTrialIsUnanswered) {
  sample_.key.problem = "M=8 N=8 K=8";
  store_.append(std::vector{sample_.failure("BM=16", "wrong"), sample_.failure("BM=32", "crash")});
  decide("M=9 N=9 K=9");
  const std::vector<TunedEntry> open = store_.unanswered({});
  ASSERT_EQ(open.size(), 1u);
  EXPECT_EQ(open[0].best.key.problem, "M=8 N=8 K=8");
  EXPECT_EQ(open[0].session.strategy, "guided");
  EXPECT_THAT(store_.unanswered({.target = "conv"}), IsEmpty());
  EXPECT_THAT(store_.unanswered({.sizes = "M=9 N=9 K=9"}), IsEmpty());
  store_.append(std::vector{[&] {
    sample_.key.problem = "M=8 N=8 K=8";
    return sample_.trial("BM=64", 9000);
  }()});
  EXPECT_THAT(store_.unanswered({}), IsEmpty());
}

TEST_F(Tuned, TargetsAndDevicesAreListedOnceTheyHaveAnAnswer) {
  EXPECT_THAT(store_.tuned_on(), IsEmpty());
  decide("M=8 N=8 K=8");
  decide("M=9 N=9 K=9");
  const std::vector<TunedOn> all = store_.tuned_on();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].target, "gemm");
  EXPECT_EQ(all[0].device_name, "NVIDIA H200");
  EXPECT_EQ(all[0].size_names, "M N K");
}

using Sizes = std::array<std::int64_t, 3>;

std::string text_of(const Sizes& sizes) {
  return format("M={} N={} K={}", sizes[0], sizes[1], sizes[2]);
}

/// A store of these problems.
class TunedProblems {
 public:
  explicit TunedProblems(const std::vector<Sizes>& problems) : store_(folder_ / "t.db") {
    Sample sample(store_);
    std::vector<TrialRow> trials;
    for (const Sizes& sizes : problems) {
      sample.key.problem = text_of(sizes) + " dtype=f32";
      trials.push_back(sample.trial("BM=64", 100));
    }
    store_.append(trials);
  }

  NearEntry nearest(const Sizes& sizes) const {
    const auto near = store_.nearest({"", "gemm", "", "", ""}, text_of(sizes));
    EXPECT_EQ(near.size(), 1u);
    return near.at(0);
  }

 private:
  const TemporaryFolder folder_;
  TunedStore store_;
};

TEST(Nearest, IsWhatGoingThroughAllOfThemFinds) {
  std::minstd_rand random(1);
  const auto draw = [&](std::int64_t most) -> std::int64_t { return 1 + random() % most; };
  std::vector<Sizes> problems;
  for (std::int64_t m = 1; m <= 12; ++m) {  // many begin alike: 9 and 90, 1 and 11
    for (int i = 0; i < 40; ++i) problems.push_back({m * m, draw(30), draw(2000)});
  }
  const TunedProblems tuned(problems);
  for (int i = 0; i < 200; ++i) {
    const Sizes asked{draw(200), draw(40), draw(2500)};
    double least = 1e9;
    for (const Sizes& one : problems) least = std::min(least, size_distance(one, asked));
    EXPECT_DOUBLE_EQ(tuned.nearest(asked).distance, least) << text_of(asked);
  }
}

TEST(Nearest, OfSeveralAsNearTheShortestAndThenTheFirstTextCounts) {
  const TunedProblems tuned({{64, 64, 64}, {256, 64, 64}, {64, 256, 64}});
  EXPECT_EQ(tuned.nearest({128, 64, 64}).entry.best.key.problem, "M=64 N=64 K=64 dtype=f32");
  EXPECT_EQ(tuned.nearest({128, 128, 64}).entry.best.key.problem, "M=64 N=64 K=64 dtype=f32");
  EXPECT_EQ(tuned.nearest({256, 256, 64}).entry.best.key.problem, "M=256 N=64 K=64 dtype=f32");
}

TEST(Nearest, IsOfThePolicyThatIsAskedFor) {
  const TemporaryFolder folder;
  TunedStore store(folder / "t.db");
  Sample sample(store);
  sample.key.problem = "M=1 N=1 K=1 dtype=f32";
  store.append(std::vector{sample.trial("BM=64", 100)});
  EXPECT_EQ(store.nearest({.target = "gemm", .policy = sample.key.policy}, "M=1 N=1 K=1").size(),
            1u);
  EXPECT_TRUE(store.nearest({.target = "gemm", .policy = "another"}, "M=1 N=1 K=1").empty());
}

}  // namespace
}  // namespace autotune::db
