// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <random>

#include "db/connection.hpp"
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
  /// What SQLite does for an answer.
  int steps_of(const Sizes& sizes) const {
    int steps = 0;
    sqlite3* const database = store_.connection().database.getHandle();
    const auto count = [](void* counted) { return ++*static_cast<int*>(counted), 0; };
    sqlite3_progress_handler(database, 1, count, &steps);
    nearest(sizes);
    sqlite3_progress_handler(database, 0, nullptr, nullptr);
    return steps;
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

TEST(Nearest, DoesNotGoThroughThoseThatBeginTooFarAway) {
  std::vector<Sizes> problems;
  for (std::int64_t m = 1; m <= 20; ++m) {
    for (std::int64_t n = 1; n <= 100; ++n) problems.push_back({1 << m, n * 16, 64});
  }
  EXPECT_LT(TunedProblems(problems).steps_of({1000, 999, 64}), 2 * std::ssize(problems));
}

}  // namespace
}  // namespace autotune::db
