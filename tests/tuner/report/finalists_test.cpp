// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/finalists.hpp"

#include <gmock/gmock.h>

#include "db/counters.hpp"
#include "tests/db/sample.hpp"
#include "tuner/report/report.hpp"

namespace autotune::report {
namespace {

class Finalists : public testing::Test {
 protected:
  Finalists() {
    db::TrialRow row = sample.trial("BM=64", 1000);
    row.occupancy = 0.75;
    store.append(std::vector{row, sample.trial("BM=32", 3000), sample.trial("BM=128", 1002)});
    db::DecisionRow decision = sample.decision("BM=64", 1000);
    decision.default_configuration = "BM=32";
    decision.default_ns = 3000;
    decision.ties = "BM=128";
    store.add_decision(decision);
  }
  std::vector<Finalist> found() {
    const auto none = [](const std::string&) -> const Target* { return nullptr; };
    return collect(store, store.tuned({}), none).at(0).finalists;
  }
  void count(const std::string& configuration, const std::string& figures) {
    db::add_counters(store, {"", sample.key, configuration, figures, "driver 580.82",
                             "2026-03-01T12:30:00.000Z"});
  }

  db::TemporaryFolder folder;
  db::TunedStore store{folder / "tuned.db"};
  db::Sample sample{store};
};

TEST_F(Finalists, AreTheBestTheDefaultAndTiesWithTheirTimes) {
  const std::vector<Finalist> all = found();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].role, "best");
  EXPECT_EQ(all[1].role, "default");
  EXPECT_EQ(all[2].role, "tie");
  EXPECT_DOUBLE_EQ(all[0].expected.seconds, 1e-6);
  EXPECT_DOUBLE_EQ(all[1].expected.seconds, 3e-6);
  EXPECT_DOUBLE_EQ(all[2].expected.seconds, 1.002e-6);
  EXPECT_EQ(all[0].expected.occupancy, 0.75);
  EXPECT_TRUE(all[0].counters.empty());
}

TEST_F(Finalists, HaveTheirCounters) {
  count("BM=64", "instructions=4096 l2_bytes=10");
  count("BM=7", "instructions=1");
  const std::vector<Finalist> all = found();
  EXPECT_EQ(all[0].counters.at("instructions"), 4096);
  EXPECT_EQ(all[0].environment, "driver 580.82");
  EXPECT_TRUE(all[1].counters.empty());
}

TEST_F(Finalists, FiguresThatAreNoNumbersAreNotCounted) {
  count("BM=64", "instructions=many l2_bytes=nan");
  EXPECT_TRUE(found().at(0).counters.empty());
}

}  // namespace
}  // namespace autotune::report
