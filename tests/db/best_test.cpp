// SPDX-License-Identifier: Apache-2.0

#include <SQLiteCpp/Database.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <random>
#include <vector>

#include "db/best.hpp"
#include "db/rows.hpp"
#include "tests/db/sampled_store.hpp"
#include "tests/support/matchers.hpp"

namespace autotune::db {
namespace {

std::string at(int second) { return format("2026-03-01T12:00:{:02}.000Z", second); }

TrialRow dated(TrialRow row, int second) {
  row.created_at = at(second);
  return row;
}

/// A store of its own, and a session in it.
class BestTest : public SampledStore {
 protected:
  TrialRow good(const std::string& configuration, double median_ns, int second) const {
    return dated(sample_.trial(configuration, median_ns), second);
  }
  TrialRow bad(const std::string& configuration, const std::string& outcome, int second) const {
    return dated(sample_.failure(configuration, outcome), second);
  }
  void add(const TrialRow& trial) { store_.append({&trial, 1}); }
  /// Opened anew, as the file is written beside the store.
  void damage(const std::string& sql) { execute(folder_ / "t.db", sql); }
};

/// A clock was ahead when the first was stored, and is right by now.
TEST_F(BestTest, AnAnswerThatIsDatedAheadIsNamedAndTheLatestUntilNowCounts) {
  using namespace std::chrono_literals;
  const auto from_now = [](std::chrono::minutes ahead) {
    return time_text(std::chrono::system_clock::now() + ahead);
  };
  const std::string ahead = from_now(2h);
  store_.add_decision(sample_.decision("BM=1", 900, ahead));
  EXPECT_EQ(best(), "nothing");
  store_.add_decision(sample_.decision("BM=2", 500, from_now(-10min)));
  EXPECT_EQ(best(), "BM=2");
  EXPECT_THAT(store_.left_out(), ElementsAre(AllOf(HasSubstr("best of M=512 N=512 K=512"),
                                                   HasSubstr("it is dated " + ahead),
                                                   HasSubstr("autotune db retract"))));
  store_.pin({"", sample_.key, "BM=3", "", ahead});
  EXPECT_EQ(best(), "BM=2");
  ASSERT_EQ(store_.tuned({}).size(), 1u);
  EXPECT_EQ(store_.tuned({})[0].best.configuration, "BM=2");
  store_.pin({"", sample_.key, "BM=4", "", from_now(1min)});
  EXPECT_EQ(best(), "BM=4");
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(BestTest, ClocksMayDifferByMinutes) {
  const auto soon = std::chrono::system_clock::now() + std::chrono::minutes(1);
  store_.add_decision(sample_.decision("BM=1", 900, time_text(soon)));
  EXPECT_EQ(best(), "BM=1");
  EXPECT_THAT(store_.left_out(), IsEmpty());
}

TEST_F(BestTest, AProblemWhoseTrialsAllFailedIsUnanswered) {
  EXPECT_THAT(store_.unanswered({}), IsEmpty());
  add(bad("BM=64", "wrong", 1));
  add(bad("BM=32", "crash", 2));
  const std::vector<TunedEntry> unanswered = store_.unanswered({});
  ASSERT_EQ(unanswered.size(), 1U);
  EXPECT_EQ(unanswered[0].best.key, sample_.key);
  EXPECT_EQ(unanswered[0].best.created_at.substr(17, 2), "02");
  EXPECT_THAT(store_.unanswered({.target = "other"}), IsEmpty());
  add(good("BM=16", 1000, 3));
  EXPECT_THAT(store_.unanswered({}), IsEmpty());
}

TEST_F(BestTest, AConfigurationThatFailedAfterItsTimeIsNoAnswer) {
  add(good("BM=64", 1000, 1));
  add(good("BM=32", 2000, 2));
  EXPECT_EQ(best(), "BM=64");
  add(bad("BM=64", "wrong", 3));
  EXPECT_EQ(best(), "BM=32");
  add(bad("BM=32", "crash", 4));
  EXPECT_EQ(best(), "nothing");
  EXPECT_THAT(store_.tuned({}), IsEmpty());
  SQLite::Database database((folder_ / "t.db").string());
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM tuned").getInt(), 0);
  EXPECT_THAT(store_.check().damage, IsEmpty());
  add(good("BM=32", 2100, 5));
  EXPECT_EQ(best(), "BM=32") << "it was measured again";
}

TEST_F(BestTest, WhatIsGivenUpAsSlowIsNotRefuted) {
  add(good("BM=64", 1000, 1));
  add(bad("BM=64", "pruned", 2));
  EXPECT_EQ(best(), "BM=64");
}

TEST_F(BestTest, ADecisionForWhatFailedLaterGivesWayToTheOneBefore) {
  store_.add_decision(sample_.decision("BM=32", 2000, at(1)));
  store_.add_decision(sample_.decision("BM=64", 1000, at(2)));
  add(bad("BM=64", "nondeterministic", 3));
  EXPECT_EQ(best(), "BM=32");
  store_.rebuild_best();
  EXPECT_EQ(best(), "BM=32");
}

TEST_F(BestTest, APinIsAPersonsChoiceUntilItsConfigurationFails) {
  add(good("BM=64", 1000, 1));
  add(good("BM=32", 900, 1));
  store_.pin({"", sample_.key, "BM=64", "", at(2)});
  EXPECT_EQ(store_.best(sample_.key)->median_ns, 1000);
  add(bad("BM=64", "wrong", 3));
  EXPECT_EQ(best(), "BM=32");
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("BM=64 failed for M=512 N=512 K=512")));
}

TEST_F(BestTest, WhatAPartOfTheSpaceHasIsNoAnswerUntilItIsPinned) {
  SessionRow part{"", at(30), "0.1.0", "", "tune --fix BM=64", "guided", 1, "200", true};
  TrialRow trial = good("BM=64", 1000, 31);
  trial.session = store_.begin_session(part);
  add(trial);
  EXPECT_EQ(best(), "nothing");
  add(good("BM=32", 2000, 2));
  EXPECT_EQ(best(), "BM=32");
  store_.pin({"", sample_.key, "BM=64", "", at(40)});
  EXPECT_EQ(store_.best(sample_.key)->median_ns, 1000);
  EXPECT_THAT(store_.check().damage, IsEmpty());
}

TEST_F(BestTest, TheOrderInWhichFactsComeInMeansNothing) {
  add(bad("BM=64", "crash", 1));
  add(good("BM=64", 1000, 2));
  add(good("BM=32", 900, 3));
  add(bad("BM=32", "wrong", 4));
  add(bad("BM=64", "crash", 0));
  std::vector<std::string> lines;
  std::istringstream text(facts_of(store_));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 8u);
  const auto outcomes_in = [&](const TunedStore& store) {
    std::string all;
    for (const TrialRow& trial : store.trials(sample_.key)) {
      all += trial.configuration + ' ' + trial.outcome + '\n';
    }
    return all;
  };
  const std::string expected = "BM=64 crash\nBM=64 crash\nBM=64 ok\nBM=32 ok\nBM=32 wrong\n";
  EXPECT_EQ(outcomes_in(store_), expected);
  for (int i = 0; std::next_permutation(lines.begin() + 3, lines.end()); ++i) {
    if (i % 12 != 0) continue;  // ten of the 120
    TunedStore store(folder_ / format("{}.db", i));
    for (const std::string& line : lines) {  // one import each, so that rows stand in this order
      EXPECT_THAT(import_text(store, line).refused, IsEmpty());
    }
    EXPECT_EQ(outcomes_in(store), expected);
    EXPECT_EQ(store.best(sample_.key), store_.best(sample_.key));
    EXPECT_EQ(store.quarantined(sample_.key).size(), 1u);
  }
  EXPECT_EQ(best(), "BM=64");
}

TEST_F(BestTest, ADamagedFactIsNoAnswerEvenAfterAllIsDerivedAnew) {
  store_.add_decision(sample_.decision("BM=32", 2000, at(1)));
  store_.add_decision(sample_.decision("BM=64", 1000, at(2)));
  damage("UPDATE decision SET median_ns = 10 WHERE configuration = 'BM=64'");
  store_.rebuild_best();
  EXPECT_EQ(best(), "BM=32");
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("it is not what was stored")));
  damage("UPDATE decision SET configuration = 'BM=33' WHERE configuration = 'BM=32'");
  store_.rebuild_best();
  EXPECT_EQ(best(), "nothing");
}

TEST_F(BestTest, ADamagedTrialPinOrDefaultIsNoneEither) {
  TrialRow standard = good("BM=16", 30000, 1);
  standard.is_default = true;
  add(standard);
  add(good("BM=64", 1000, 2));
  add(good("BM=32", 2000, 3));
  damage("UPDATE trial SET verified = 0 WHERE configuration = 'BM=64'");
  damage("UPDATE trial SET median_ns = 1 WHERE configuration = 'BM=16'");
  store_.rebuild_best();
  EXPECT_EQ(best(), "BM=32");
  EXPECT_EQ(store_.best(sample_.key)->default_ns, std::nullopt);
  EXPECT_EQ(store_.trials(sample_.key).size(), 1u);
  store_.pin({"", sample_.key, "BM=1", "", at(4)});
  damage("UPDATE pin SET configuration = 'BM=2'");
  store_.rebuild_best();
  EXPECT_EQ(best(), "BM=32");
}

TEST_F(BestTest, ADamagedAnswerIsNotGiven) {
  store_.add_decision(sample_.decision("BM=64", 1000, at(1)));
  for (const char* change :
       {"configuration = 'BM=65'", "low_ns = 7", "verified = 0", "created_at = '2026'",
        "session = 'x'", "source = 'x'", "gflops = 1e9", "row_hash = 7"}) {
    damage(std::string("UPDATE best SET ") + change);
    EXPECT_EQ(best(), "nothing") << change;
    EXPECT_THAT(store_.tuned({}), IsEmpty()) << change;
    EXPECT_THAT(store_.nearest({}, "M=512 N=512 K=512"), IsEmpty()) << change;
    EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("best of M=512 N=512 K=512 dtype=f32")));
    EXPECT_THAT(header_of(store_), HasSubstr("kRowCount = 0;"));
    store_.rebuild_best();
    EXPECT_EQ(best(), "BM=64");
  }
}

TEST_F(BestTest, WithADamagedDeviceOrKernelThereIsNoAnswerWithADamagedSessionThereIs) {
  store_.add_decision(sample_.decision("BM=64", 1000, at(1)));
  damage("UPDATE session SET environment = 'driver 580.83'");
  ASSERT_EQ(store_.tuned({}).size(), 1u);
  EXPECT_EQ(store_.tuned({})[0].session, SessionRow());
  EXPECT_THAT(store_.left_out(), ElementsAre(HasSubstr("session")));
  store_.rebuild_best();
  EXPECT_EQ(best(), "BM=64");
  damage("UPDATE device SET name = 'NVIDIA H201'");
  EXPECT_THAT(store_.tuned({}), IsEmpty());
}

TEST_F(BestTest, ARowStoredOverADamagedAnswerMendsIt) {
  store_.add_decision(sample_.decision("BM=64", 1000, at(1)));
  damage("UPDATE best SET created_at = '2099'");
  store_.add_decision(sample_.decision("BM=32", 900, at(2)));
  EXPECT_EQ(best(), "BM=32");
}

// Which entries reading the database gives, and in what order.

class Tuned : public SampledStore {
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
