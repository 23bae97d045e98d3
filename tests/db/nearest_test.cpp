// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "db/problem_text.hpp"
#include "tests/db/sample.hpp"

namespace autotune::db {
namespace {

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
